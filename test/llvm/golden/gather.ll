body9:
  %0 = add <2 x i32> %1, %2
  %3 = insertelement <2 x i32> poison, i32 %4, i64 0
  %5 = shufflevector <2 x i32> %3, <2 x i32> poison, <2 x i32> zeroinitializer
  %6 = icmp ult <2 x i32> %0, %5
  %7 = select <2 x i1> %6, <2 x i32> %0, <2 x i32> zeroinitializer
  %8 = extractelement <2 x i32> %7, i64 0
  %9 = getelementptr double, ptr %10, i32 %8
  %11 = load double, ptr %9, align 8
  %12 = insertelement <2 x double> poison, double %11, i64 0
  %13 = extractelement <2 x i32> %7, i64 1
  %14 = getelementptr double, ptr %10, i32 %13
  %15 = load double, ptr %14, align 8
  %16 = insertelement <2 x double> %12, double %15, i64 1
  %17 = select <2 x i1> %6, <2 x double> %16, <2 x double> %18
  %19 = fadd <2 x double> %20, %17
  %21 = select <2 x i1> %22, <2 x double> %19, <2 x double> %20
  %23 = sext <2 x i1> %22 to <2 x i64>
  %24 = add nuw nsw i32 %25, 1
  br label %loop8

loop10:
  %0 = phi i32 [ 0, %vectors8 ], [ %1, %body11 ]
  %2 = phi <8 x i1> [ %3, %vectors8 ], [ %4, %body11 ]
  %5 = phi <8 x double> [ %6, %vectors8 ], [ %7, %body11 ]
  %8 = insertelement <8 x i32> poison, i32 %0, i64 0
  %9 = shufflevector <8 x i32> %8, <8 x i32> poison, <8 x i32> zeroinitializer
  %10 = icmp slt <8 x i32> %9, %11
  %12 = and <8 x i1> %2, %10
  %13 = fcmp olt <8 x double> %5, %14
  %4 = and <8 x i1> %12, %13
  %15 = bitcast <8 x i1> %4 to i8
  %16 = icmp ne i8 %15, 0
  br i1 %16, label %body11, label %done12
body11:
  %0 = fmul <8 x double> %1, %1
  %2 = select <8 x i1> %3, <8 x double> %0, <8 x double> %1
  %4 = add nuw nsw i32 %5, 1
  br label %loop10

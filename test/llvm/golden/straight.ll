vectors8:
  %0 = getelementptr double, ptr %1, i64 %2
  %3 = load <8 x double>, ptr %0, align 8
  %4 = add i64 %2, 8
  %5 = getelementptr double, ptr %1, i64 %4
  %6 = load <8 x double>, ptr %5, align 8
  %7 = add i64 %2, 16
  %8 = getelementptr double, ptr %1, i64 %7
  %9 = load <8 x double>, ptr %8, align 8
  %10 = add i64 %2, 24
  %11 = getelementptr double, ptr %1, i64 %10
  %12 = load <8 x double>, ptr %11, align 8
  %13 = call <8 x double> @llvm.fma.v8f64(<8 x double> %3, <8 x double> %14, <8 x double> %15)
  %16 = call <8 x double> @llvm.fma.v8f64(<8 x double> %6, <8 x double> %14, <8 x double> %15)
  %17 = call <8 x double> @llvm.fma.v8f64(<8 x double> %9, <8 x double> %14, <8 x double> %15)
  %18 = call <8 x double> @llvm.fma.v8f64(<8 x double> %12, <8 x double> %14, <8 x double> %15)
  %19 = fcmp ogt <8 x double> %20, %13
  %21 = select <8 x i1> %19, <8 x double> %20, <8 x double> %13
  %22 = fcmp ogt <8 x double> %20, %16
  %23 = select <8 x i1> %22, <8 x double> %20, <8 x double> %16
  %24 = fcmp ogt <8 x double> %20, %17
  %25 = select <8 x i1> %24, <8 x double> %20, <8 x double> %17
  %26 = fcmp ogt <8 x double> %20, %18
  %27 = select <8 x i1> %26, <8 x double> %20, <8 x double> %18
  %28 = getelementptr double, ptr %29, i64 %2
  store <8 x double> %21, ptr %28, align 8
  %30 = add i64 %2, 8
  %31 = getelementptr double, ptr %29, i64 %30
  store <8 x double> %23, ptr %31, align 8
  %32 = add i64 %2, 16
  %33 = getelementptr double, ptr %29, i64 %32
  store <8 x double> %25, ptr %33, align 8
  %34 = add i64 %2, 24
  %35 = getelementptr double, ptr %29, i64 %34
  store <8 x double> %27, ptr %35, align 8
  br label %whole7

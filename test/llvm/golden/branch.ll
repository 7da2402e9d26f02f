sample7:
  %0 = getelementptr double, ptr %1, i64 %2
  %3 = load double, ptr %0, align 8
  %4 = fcmp olt double %3, 0x0000000000000000
  br i1 %4, label %side8, label %side9
side8:
  %0 = fneg double %1
  %2 = call double @llvm.sqrt.f64(double %0)
  br label %join10
join10:
  %0 = phi double [ %1, %side8 ], [ %2, %side9 ]
  %3 = getelementptr double, ptr %4, i64 %5
  store double %0, ptr %3, align 8
  %6 = add i64 %5, 1
  br label %samples5

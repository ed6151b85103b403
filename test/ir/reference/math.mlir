// Results of unary math functions.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @exp()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @exp() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.exp %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[2.061153692e-09, 3.019738384e-02, 3.678794503e-01, 7.788007855e-01, 1.000000000e+00, 1.000000000e+00, 1.648721218e+00, 7.389056206e+00, 1.068647422e+13]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @expm1()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @expm1() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.expm1 %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-1.000000000e+00, -9.698026180e-01, -6.321205497e-01, -2.211992145e-01, 0.000000000e+00, 9.999999939e-09, 6.487212777e-01, 6.389056206e+00, 1.068647422e+13]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @log()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @log() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[9.999999683e-21, 5.000000000e-01, 1.000000000e+00, 2.000000000e+00, 1.000000020e+20]> : tensor<5xf32>
  %y = dlc.log %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[-4.605170059e+01, -6.931471825e-01, 0.000000000e+00, 6.931471825e-01, 4.605170059e+01]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @log1p()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @log1p() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[9.999999683e-21, 5.000000000e-01, 1.000000000e+00, 2.000000000e+00, 1.000000020e+20]> : tensor<5xf32>
  %y = dlc.log1p %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[9.999999683e-21, 4.054650962e-01, 6.931471825e-01, 1.098612309e+00, 4.605170059e+01]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @sqrt()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @sqrt() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[9.999999683e-21, 5.000000000e-01, 1.000000000e+00, 2.000000000e+00, 1.000000020e+20]> : tensor<5xf32>
  %y = dlc.sqrt %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[1.000000013e-10, 7.071067691e-01, 1.000000000e+00, 1.414213538e+00, 1.000000000e+10]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @rsqrt()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @rsqrt() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[9.999999683e-21, 5.000000000e-01, 1.000000000e+00, 2.000000000e+00, 1.000000020e+20]> : tensor<5xf32>
  %y = dlc.rsqrt %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[1.000000000e+10, 1.414213538e+00, 1.000000000e+00, 7.071067691e-01, 1.000000013e-10]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @sin()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @sin() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.sin %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-9.129452705e-01, 3.507832289e-01, -8.414709568e-01, -2.474039644e-01, 0.000000000e+00, 9.999999939e-09, 4.794255495e-01, 9.092974067e-01, -9.880316257e-01]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @cos()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @cos() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.cos %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[4.080820680e-01, -9.364566803e-01, 5.403022766e-01, 9.689124227e-01, 1.000000000e+00, 1.000000000e+00, 8.775825500e-01, -4.161468446e-01, 1.542514563e-01]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @tan()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @tan() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.tan %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-2.237160921e+00, -3.745856285e-01, -1.557407737e+00, -2.553419173e-01, 0.000000000e+00, 9.999999939e-09, 5.463024974e-01, -2.185039759e+00, -6.405331135e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @asin()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @asin() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[-1.000000000e+00, -5.000000000e-01, 0.000000000e+00, 2.500000000e-01, 1.000000000e+00]> : tensor<5xf32>
  %y = dlc.asin %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[-1.570796371e+00, -5.235987902e-01, 0.000000000e+00, 2.526802421e-01, 1.570796371e+00]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @acos()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @acos() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = dlc.constant dense<[-1.000000000e+00, -5.000000000e-01, 0.000000000e+00, 2.500000000e-01, 1.000000000e+00]> : tensor<5xf32>
  %y = dlc.acos %x : (tensor<5xf32>) -> tensor<5xf32>
  %expected0 = dlc.constant dense<[3.141592741e+00, 2.094395161e+00, 1.570796371e+00, 1.318116069e+00, 0.000000000e+00]> : tensor<5xf32>
  return %y, %expected0 : tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @atan()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @atan() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.atan %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-1.520837903e+00, -1.292496681e+00, -7.853981853e-01, -2.449786663e-01, 0.000000000e+00, 9.999999939e-09, 4.636476040e-01, 1.107148767e+00, 1.537475348e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @sinh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @sinh() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.sinh %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-2.425825920e+08, -1.654262733e+01, -1.175201178e+00, -2.526123226e-01, 0.000000000e+00, 9.999999939e-09, 5.210952759e-01, 3.626860380e+00, 5.343237112e+12]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @cosh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @cosh() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.cosh %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[2.425825920e+08, 1.657282448e+01, 1.543080688e+00, 1.031413078e+00, 1.000000000e+00, 1.000000000e+00, 1.127625942e+00, 3.762195587e+00, 5.343237112e+12]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @tanh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @tanh() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.tanh %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-1.000000000e+00, -9.981778860e-01, -7.615941763e-01, -2.449186593e-01, 0.000000000e+00, 9.999999939e-09, 4.621171653e-01, 9.640275836e-01, 1.000000000e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @asinh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @asinh() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.asinh %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-3.689503908e+00, -1.965720415e+00, -8.813735843e-01, -2.474664599e-01, 0.000000000e+00, 9.999999939e-09, 4.812118113e-01, 1.443635464e+00, 4.094622135e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @acosh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @acosh() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = dlc.constant dense<[1.000000000e+00, 1.500000000e+00, 1.000000000e+10]> : tensor<3xf32>
  %y = dlc.acosh %x : (tensor<3xf32>) -> tensor<3xf32>
  %expected0 = dlc.constant dense<[0.000000000e+00, 9.624236226e-01, 2.371899796e+01]> : tensor<3xf32>
  return %y, %expected0 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @atanh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @atanh() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = dlc.constant dense<[-7.500000000e-01, 0.000000000e+00, 5.000000000e-01]> : tensor<3xf32>
  %y = dlc.atanh %x : (tensor<3xf32>) -> tensor<3xf32>
  %expected0 = dlc.constant dense<[-9.729550481e-01, 0.000000000e+00, 5.493061543e-01]> : tensor<3xf32>
  return %y, %expected0 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @erf()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @erf() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.erf %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-1.000000000e+00, -9.999992847e-01, -8.427007794e-01, -2.763263881e-01, 0.000000000e+00, 1.128379168e-08, 5.204998851e-01, 9.953222871e-01, 1.000000000e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @erfc()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @erfc() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.erfc %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[2.000000000e+00, 1.999999285e+00, 1.842700839e+00, 1.276326418e+00, 1.000000000e+00, 1.000000000e+00, 4.795001149e-01, 4.677734803e-03, 0.000000000e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @erfinv()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @erfinv() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = dlc.constant dense<[-7.500000000e-01, 0.000000000e+00, 5.000000000e-01]> : tensor<3xf32>
  %y = dlc.erfinv %x : (tensor<3xf32>) -> tensor<3xf32>
  %expected0 = dlc.constant dense<[-8.134198189e-01, 0.000000000e+00, 4.769362807e-01]> : tensor<3xf32>
  return %y, %expected0 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @sigmoid()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @sigmoid() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.sigmoid %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[2.061153692e-09, 2.931223065e-02, 2.689414322e-01, 4.378235042e-01, 5.000000000e-01, 5.000000000e-01, 6.224593520e-01, 8.807970881e-01, 1.000000000e+00]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @atan2()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @atan2() -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %x = dlc.constant dense<[[0.000000000e+00], [-0.000000000e+00], [2.000000000e+00], [-3.000000000e+00]]> : tensor<4x1xf32>
  %z = dlc.constant dense<[0.000000000e+00, -0.000000000e+00, 1.000000000e+00, -4.000000000e+00]> : tensor<4xf32>
  %y = dlc.atan2 %x, %z : (tensor<4x1xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %expected0 = dlc.constant dense<[[0.000000000e+00, 3.141592741e+00, 0.000000000e+00, 3.141592741e+00], [-0.000000000e+00, -3.141592741e+00, -0.000000000e+00, -3.141592741e+00], [1.570796371e+00, 1.570796371e+00, 1.107148767e+00, 2.677945137e+00], [-1.570796371e+00, -1.570796371e+00, -1.249045730e+00, -2.498091459e+00]]> : tensor<4x4xf32>
  return %y, %expected0 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @gelu()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @gelu() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.gelu %x : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-0.000000000e+00, -8.142017759e-04, -1.586552560e-01, -1.003234163e-01, 0.000000000e+00, 4.999999970e-09, 3.457312286e-01, 1.954499722e+00, 3.000000000e+01]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @gelu_tanh()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @gelu_tanh() -> (tensor<9xf32>, tensor<9xf32>) {
  %x = dlc.constant dense<[-2.000000000e+01, -3.500000000e+00, -1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 9.999999939e-09, 5.000000000e-01, 2.000000000e+00, 3.000000000e+01]> : tensor<9xf32>
  %y = dlc.gelu %x {approximate} : (tensor<9xf32>) -> tensor<9xf32>
  %expected0 = dlc.constant dense<[-0.000000000e+00, -6.161976489e-04, -1.588080078e-01, -1.003246456e-01, 0.000000000e+00, 4.999999970e-09, 3.457140028e-01, 1.954597712e+00, 3.000000000e+01]> : tensor<9xf32>
  return %y, %expected0 : tensor<9xf32>, tensor<9xf32>
}

// CHECK-LABEL: @exp_f16()
// CHECK-NEXT: dense<[1.105470e+00, 2.718750e+00, 1.483750e+02]> : tensor<3xf16>
func.func @exp_f16() -> (tensor<3xf16>) {
  %x = dlc.constant dense<[9.997558594e-02, 1.000000000e+00, 5.000000000e+00]> : tensor<3xf16>
  %y = dlc.exp %x : (tensor<3xf16>) -> tensor<3xf16>
  return %y : tensor<3xf16>
}

// CHECK-LABEL: @exp_f64()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @exp_f64() -> (tensor<3xf64>, tensor<3xf64>) {
  %x = dlc.constant dense<[1.00000000000000006e-01, 1.00000000000000000e+00, 5.00000000000000000e+00]> : tensor<3xf64>
  %y = dlc.exp %x : (tensor<3xf64>) -> tensor<3xf64>
  %expected0 = dlc.constant dense<[1.10517091807564771e+00, 2.71828182845904509e+00, 1.48413159102576600e+02]> : tensor<3xf64>
  return %y, %expected0 : tensor<3xf64>, tensor<3xf64>
}

// Normalisation: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @softmax_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dlc.softmax' op C1: the axis must be a dimension of 'x'; found 3 for rank 3; give 0 to rank - 1}}
  %0 = dlc.softmax %x {axis = 3 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @log_softmax_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dlc.log_softmax' op C1: the axis must be a dimension of 'x'; found -1 for rank 3}}
  %0 = dlc.log_softmax %x {axis = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dlc.layer_norm' op C1: the axis must be a dimension of 'x'; found 3 for rank 3}}
  %0 = dlc.layer_norm %x {axis = 3 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.layer_norm' op C2: 'scale' must broadcast to x's dimensions from the axis on, [4]; found [3]; correct the shape}}
  %0 = dlc.layer_norm %x scale %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @layer_norm_c2_bias(%x: tensor<2x3x4xf32>, %s: tensor<3x4xf32>) {
  // expected-error @+1 {{'dlc.layer_norm' op C2: 'bias' must broadcast to x's dimensions from the axis on, [4]; found [3, 4]}}
  %0 = dlc.layer_norm %x bias %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<2x3x4xf32>, %s: tensor<4xf16>) {
  // expected-error @+1 {{'dlc.layer_norm' op C3: element types must agree; 'x' has 'f32', 'scale' has 'f16'}}
  %0 = dlc.layer_norm %x scale %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<4xf16>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @layer_norm_c3_device(%x: tensor<2x3x4xf32, #dlc.on<cpu>>, %s: tensor<4xf32, #dlc.on<cpu:3>>) {
  // expected-error @+1 {{'dlc.layer_norm' op C3: operands must be on one device; 'x' is on cpu, 'scale' on cpu:3}}
  %0 = dlc.layer_norm %x scale %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32, #dlc.on<cpu>>, tensor<4xf32, #dlc.on<cpu:3>>) -> tensor<2x3x4xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @group_norm_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.group_norm' op C1: x's rank must be 2 or more; found 1; reshape it to [N, C, ..]}}
  %0 = dlc.group_norm %x {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group_norm_c2(%x: tensor<2x4x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.group_norm' op C2: 'bias' must be [C], here [4]; found [3]; correct the shape}}
  %0 = dlc.group_norm %x bias %b {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @group_norm_c3(%x: tensor<2x4x3xf32>, %s: tensor<4xf16>) {
  // expected-error @+1 {{'dlc.group_norm' op C3: element types must agree; 'x' has 'f32', 'scale' has 'f16'}}
  %0 = dlc.group_norm %x scale %s {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x3xf32>, tensor<4xf16>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @group_norm_c4(%x: tensor<2x4x3xf32>) {
  // expected-error @+1 {{'dlc.group_norm' op C4: groups must be 1 or more and divide the channels; found 3 groups of 4 channels; correct one of them}}
  %0 = dlc.group_norm %x {groups = 3 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dlc.rms_norm' op C1: the axis must be a dimension of 'x'; found 3 for rank 3}}
  %0 = dlc.rms_norm %x {axis = 3 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.rms_norm' op C2: 'scale' must broadcast to x's dimensions from the axis on, [4]; found [3]}}
  %0 = dlc.rms_norm %x, %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<2x3x4xf32>, %s: tensor<4xf64>) {
  // expected-error @+1 {{'dlc.rms_norm' op C3: element types must agree; 'x' has 'f32', 'scale' has 'f64'}}
  %0 = dlc.rms_norm %x, %s {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<4xf64>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @batch_norm_c1(%x: tensor<3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.batch_norm' op C1: x's rank must be 2 or more; found 1; reshape it to [N, C, ..]}}
  %0 = dlc.batch_norm %x, %a, %b, %c, %d {eps = 1.0e-5 : f64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @batch_norm_c2(%x: tensor<2x3x4xf32>, %a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.batch_norm' op C2: 'bias' must be [C], here [3]; found [4]; correct the shape}}
  %0 = dlc.batch_norm %x, %a, %b, %c, %d {eps = 1.0e-5 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @batch_norm_c3(%x: tensor<2x3x4xf32, #dlc.on<cpu>>, %a: tensor<3xf32, #dlc.on<cpu>>, %b: tensor<3xf32, #dlc.on<cpu>>, %c: tensor<3xf32, #dlc.on<cpu>>, %d: tensor<3xf32, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.batch_norm' op C3: operands must be on one device; 'x' is on cpu, 'variance' on cpu:1}}
  %0 = dlc.batch_norm %x, %a, %b, %c, %d {eps = 1.0e-5 : f64} : (tensor<2x3x4xf32, #dlc.on<cpu>>, tensor<3xf32, #dlc.on<cpu>>, tensor<3xf32, #dlc.on<cpu>>, tensor<3xf32, #dlc.on<cpu>>, tensor<3xf32, #dlc.on<cpu:1>>) -> tensor<2x3x4xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @lrn_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.lrn' op C1: x's rank must be 2 or more and size 1 or more; found rank 1 and size 5; correct them}}
  %0 = dlc.lrn %x {alpha = 1.0 : f64, beta = 1.0 : f64, k = 1.0 : f64, size = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @lrn_c1_size(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'dlc.lrn' op C1: x's rank must be 2 or more and size 1 or more; found rank 3 and size 0}}
  %0 = dlc.lrn %x {alpha = 1.0 : f64, beta = 1.0 : f64, k = 1.0 : f64, size = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @inferred(%x: tensor<2x?x4xf16, #dlc.on<cpu, aBc8b>>) {
  // expected-error @+1 {{'dlc.softmax' op inferred type(s) 'tensor<2x?x4xf16, #dlc.on<cpu>>' are incompatible with return type(s) of operation 'tensor<f16>'}}
  %0 = dlc.softmax %x {axis = 1 : i64} : (tensor<2x?x4xf16, #dlc.on<cpu, aBc8b>>) -> tensor<f16>
  return
}

// -----

func.func @batch_norm_train_c1(%x: tensor<4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_train' op C1: x's rank must be 2 or more; found 1; reshape it to [N, C, ..]}}
  %0:3 = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_train_c2(%x: tensor<2x4x8xf32>, %s: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_train' op C2: 'bias' must be [C], here [4]; found [3]; correct the shape}}
  %0:3 = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_train_c3(%x: tensor<2x4x8xf32>, %s: tensor<4xf32, #dlc.on<cpu>>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_train' op C3: operands must be on one device; 'x' is unplaced, 'scale' on cpu; move one with dlc.transfer}}
  %0:3 = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<4xf32, #dlc.on<cpu>>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_train_c4(%x: tensor<0x4x8xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_train' op C4: a channel must have at least one element; found [0, 4, 8]; give a batch that is not empty}}
  %0:3 = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<0x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<0x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_train_result(%x: tensor<2x4x8xbf16>, %s: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_train' op inferred type(s) 'tensor<2x4x8xbf16>', 'tensor<4xf32>', 'tensor<4xf32>' are incompatible}}
  %0:3 = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<2x4x8xbf16>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @batch_norm_grad_c1(%x: tensor<4xf32>, %d: tensor<2x4x8xf32>, %s: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_grad' op C1: x's rank must be 2 or more; found 1; reshape it to [N, C, ..]}}
  %0:3 = dlc.batch_norm_grad %x, %d, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<4xf32>, tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_grad_c1_shape(%x: tensor<2x4x8xf32>, %d: tensor<2x4x9xf32>, %s: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_grad' op C1: 'dy' must be of x's shape, here [2, 4, 8]; found [2, 4, 9]; correct the shape}}
  %0:3 = dlc.batch_norm_grad %x, %d, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<2x4x9xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_grad_c1_type(%x: tensor<2x4x8xf32>, %d: tensor<2x4x8xf16>, %s: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_grad' op C1: element types must agree; 'x' has 'f32', 'dy' has 'f16'; convert one with dlc.cast}}
  %0:3 = dlc.batch_norm_grad %x, %d, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_grad_c2(%x: tensor<2x4x8xf32>, %d: tensor<2x4x8xf32>, %s: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<5xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_grad' op C2: 'variance' must be [C], here [4]; found [5]; correct the shape}}
  %0:3 = dlc.batch_norm_grad %x, %d, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_grad_c3(%x: tensor<2x4x8xf32>, %d: tensor<2x4x8xf32, #dlc.on<cpu>>, %s: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.batch_norm_grad' op C3: operands must be on one device; 'x' is unplaced, 'dy' on cpu; move one with dlc.transfer}}
  %0:3 = dlc.batch_norm_grad %x, %d, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32, #dlc.on<cpu>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// Reductions: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.reduce' op C1: `axes` must be distinct dimensions of 'x', ascending; found [2] for rank 2; sort them, and count from 0}}
  %0 = dlc.reduce sum %x axes [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_c1_order(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.reduce' op C1: `axes` must be distinct dimensions of 'x', ascending; found [1, 0]}}
  %0 = dlc.reduce sum %x axes [1, 0] : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_twice(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.reduce' op C1: `axes` must be distinct dimensions of 'x', ascending; found [1, 1]}}
  %0 = dlc.reduce sum %x axes [1, 1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @arg_reduce_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.arg_reduce' op C1: the axis must be a dimension of 'x'; found 2 for rank 2}}
  %0 = dlc.arg_reduce max %x axis 2 : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_reduce_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.arg_reduce' op C2: the kind must be max or min; found sum}}
  %0 = dlc.arg_reduce sum %x axis 1 : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @cumulative_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.cumulative' op C1: the axis must be a dimension of 'x'; found 2 for rank 2}}
  %0 = dlc.cumulative sum %x axis 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @cumulative_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.cumulative' op C2: the kind must be sum or prod; found max}}
  %0 = dlc.cumulative max %x axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @topk_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.topk' op C1: the axis must be a dimension of 'x'; found 2 for rank 2}}
  %0:2 = dlc.topk %x {axis = 2 : i64, k = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return
}

// -----

func.func @topk_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.topk' op C2: k must be 0 to the size of the axis; found 4 for size 3; take fewer}}
  %0:2 = dlc.topk %x {axis = 1 : i64, k = 4 : i64} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}

// -----

func.func @inferred(%x: tensor<2x?x4xf16>) {
  // expected-error @+1 {{'dlc.reduce' op inferred type(s) 'tensor<?x4xf16>' are incompatible with return type(s) of operation 'tensor<f16>'}}
  %0 = dlc.reduce sum %x axes [0] : (tensor<2x?x4xf16>) -> tensor<f16>
  return
}

// -----

func.func @inferred_keepdims(%x: tensor<2x?x4xf16>) {
  // expected-error @+1 {{'dlc.arg_reduce' op inferred type(s) 'tensor<1x?x4xi64>' are incompatible with return type(s) of operation 'tensor<i64>'}}
  %0 = dlc.arg_reduce max %x axis 0 keepdims : (tensor<2x?x4xf16>) -> tensor<i64>
  return
}

// -----

func.func @nms_c1_scores(%b: tensor<2x9x4xf32>, %s: tensor<3x9xf32>, %c: tensor<2x3x9xi1>, %o: tensor<f32>) {
  // expected-error @+1 {{'dlc.nms' op C1: 'scores' must be [batch, classes, boxes]; found rank 2; reshape it}}
  %0:2 = dlc.nms %b, %s, %c, %o {k = 5 : i64} : (tensor<2x9x4xf32>, tensor<3x9xf32>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  return
}

// -----

func.func @nms_c1_boxes(%b: tensor<2x8x4xf32>, %s: tensor<2x3x9xf32>, %c: tensor<2x3x9xi1>, %o: tensor<f32>) {
  // expected-error @+1 {{'dlc.nms' op C1: 'boxes' must be four numbers for each score, here [2, 9, 4]; found [2, 8, 4]; correct the shape}}
  %0:2 = dlc.nms %b, %s, %c, %o {k = 5 : i64} : (tensor<2x8x4xf32>, tensor<2x3x9xf32>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  return
}

// -----

func.func @nms_c2(%b: tensor<2x9x4xf16>, %s: tensor<2x3x9xf32>, %c: tensor<2x3x9xi1>, %o: tensor<f32>) {
  // expected-error @+1 {{'dlc.nms' op C2: element types must agree; 'boxes' has 'f16', 'scores' has 'f32'; convert one with dlc.cast}}
  %0:2 = dlc.nms %b, %s, %c, %o {k = 5 : i64} : (tensor<2x9x4xf16>, tensor<2x3x9xf32>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  return
}

// -----

func.func @nms_c3(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf32>, %c: tensor<2x3x9xi1>, %o: tensor<1xf32>) {
  // expected-error @+1 {{'dlc.nms' op C3: 'overlap' must be one number, here []; found [1]; correct the shape}}
  %0:2 = dlc.nms %b, %s, %c, %o {k = 5 : i64} : (tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<2x3x9xi1>, tensor<1xf32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  return
}

// -----

func.func @nms_c4(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf32>, %c: tensor<2x3x9xi1>, %o: tensor<f32>) {
  // expected-error @+1 {{'dlc.nms' op C4: k must be 0 to the number of boxes; found 10 for 9; take fewer}}
  %0:2 = dlc.nms %b, %s, %c, %o {k = 10 : i64} : (tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x10xi64>, tensor<2x3xi64>)
  return
}

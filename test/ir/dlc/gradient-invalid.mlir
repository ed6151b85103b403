// Derivatives: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

func.func @c1_count(%y: tensor<f32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'dlc.gradient' op C1: required: no seed, or one for each y; found 2 for 1 ys; add or remove some}}
  %0 = dlc.gradient(%y) seeds(%y, %y) in (%x) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c1_type(%y: tensor<2xf32>, %s: tensor<2xf16>, %x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'dlc.gradient' op C1: a seed must have its y's type, here 'tensor<2xf32>'; seeds[0] is 'tensor<2xf16>'; cast, reshape or broadcast it}}
  %0 = dlc.gradient(%y) seeds(%s) in (%x) : (tensor<2xf32>, tensor<2xf16>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c1_one_element(%y: tensor<2xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'dlc.gradient' op C1: without seeds each y must have one element; ys[0] is 'tensor<2xf32>'; sum it up, or give a seed}}
  %0 = dlc.gradient(%y) in (%x) : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c2(%y: tensor<f32>, %x: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{'dlc.gradient' op C2: ys, seeds and xs must be floating-point; xs[0] has 'i32'; cast it, or leave it out}}
  %0 = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

func.func @c3_count(%y: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.gradient' op C3: required: one result for each x; found 2 for 1; correct the result types}}
  %0:2 = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @c3_type(%y: tensor<f32>, %x: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.gradient' op C3: the results must have the types of xs; result 0 is 'tensor<4xf32>', xs[0] 'tensor<3xf32>'; correct the result type}}
  %0 = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

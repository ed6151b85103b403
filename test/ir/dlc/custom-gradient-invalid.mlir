// Custom gradients: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

func.func @cotangent_c1(%y: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{'dlc.cotangent' op C1: y must be floating-point; found 'tensor<3xi32>'; remove the cotangent, or cast y}}
  %0 = dlc.cotangent %y : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

func.func @cotangent_c2(%y: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'dlc.cotangent' op C2: the result must have the type of y, here 'tensor<3xf32>'; found 'tensor<2xf32>'; change the result type}}
  %0 = dlc.cotangent %y : (tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @c1_count(%y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'dlc.custom_gradient' op C1: required: one of cotangents for each of ys; found 0 for 1; add or remove some}}
  %0 = dlc.custom_gradient(%y) of() in() is() : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c1_made(%y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{'dlc.custom_gradient' op C1: each cotangent must be a result of dlc.cotangent; cotangents[0] is not; create one for the y}}
  %0 = dlc.custom_gradient(%y) of(%y) in() is() : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c2(%y: tensor<3xf32>, %x: tensor<2xf32>) -> tensor<3xf32> {
  %d = dlc.cotangent %y : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{'dlc.custom_gradient' op C2: dxs[0] must have the type of xs[0], here 'tensor<2xf32>'; found 'tensor<3xf32>'; cast it}}
  %0 = dlc.custom_gradient(%y) of(%d) in(%x) is(%d) : (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c3(%y: tensor<3xf32>, %x: tensor<2xi32>) -> tensor<3xf32> {
  %d = dlc.cotangent %y : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{'dlc.custom_gradient' op C3: xs must be floating-point; xs[0] is 'tensor<2xi32>'; leave it out}}
  %0 = dlc.custom_gradient(%y) of(%d) in(%x) is(%x) : (tensor<3xf32>, tensor<3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @c4(%y: tensor<3xf32>) -> tensor<2xf32> {
  %d = dlc.cotangent %y : (tensor<3xf32>) -> tensor<3xf32>
  // expected-error @+1 {{'dlc.custom_gradient' op C4: results[0] must have the type of ys[0], here 'tensor<3xf32>'; found 'tensor<2xf32>'; cast it}}
  %0 = dlc.custom_gradient(%y) of(%d) in() is() : (tensor<3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Operations that cannot be evaluated, and the messages.
// RUN: dlc-opt %s --dlc-evaluate --split-input-file --verify-diagnostics

func.func @scatter_outside() -> tensor<3xf32> {
  %x = dlc.constant dense<0.0> : tensor<3xf32>
  %i = dlc.constant dense<[3]> : tensor<1xi64>
  %u = dlc.constant dense<1.0> : tensor<1xf32>
  // expected-error @+1 {{needs indices from -3 to 2, found 3}}
  %y = dlc.scatter_elements none 0 %x, %i, %u : (tensor<3xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @scatter_nd_outside() -> tensor<3xf32> {
  %x = dlc.constant dense<0.0> : tensor<3xf32>
  %i = dlc.constant dense<[[-4]]> : tensor<1x1xi64>
  %u = dlc.constant dense<1.0> : tensor<1xf32>
  // expected-error @+1 {{needs indices from -3 to 2, found -4}}
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<3xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @empty_gather() -> tensor<1xf32> {
  %x = dlc.constant dense<> : tensor<0xf32>
  %i = dlc.constant dense<0> : tensor<1xi64>
  // expected-error @+1 {{reads from a dimension of size 0}}
  %y = dlc.gather 0 %x, %i : (tensor<0xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

func.func @missing_resource() -> tensor<2xf32> {
  // expected-error @+1 {{requires dense elements or a resource of exactly the size of 'tensor<2xf32>'}}
  %x = dlc.constant dense_resource<nowhere> : tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

func.func @short_resource() -> tensor<2xf32> {
  // expected-error @+1 {{requires dense elements or a resource of exactly the size of 'tensor<2xf32>'}}
  %x = dlc.constant dense_resource<cut> : tensor<2xf32>
  return %x : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      cut: "0x0400000000000000"
    }
  }
#-}

// -----

func.func @unknown_size() -> tensor<?xi64> {
  // expected-error @+1 {{needs a static result type to be evaluated, found 'tensor<?xi64>'}}
  %x = dlc.iota 0 : tensor<?xi64>
  return %x : tensor<?xi64>
}

// -----

func.func @absurd_size() -> tensor<1000000x1000000xi64> {
  // expected-error @+1 {{is not evaluated: its result 'tensor<1000000x1000000xi64>' takes more than 68719476736 bytes}}
  %x = dlc.iota 0 : tensor<1000000x1000000xi64>
  return %x : tensor<1000000x1000000xi64>
}

// -----

func.func @gradient() -> tensor<f32> {
  %x = dlc.constant dense<2.0> : tensor<f32>
  %y = dlc.mul %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{the gradient must be expanded before it can be evaluated; run the grad phase (dlc-grad)}}
  %0 = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

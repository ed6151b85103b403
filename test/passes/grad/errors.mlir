// Errors for operations without a gradient, located in the user's model.
// RUN: dlc-opt %s --dlc-grad --split-input-file --verify-diagnostics

// expected-note@+1 {{'hidden.weight' is this value}}
func.func @unused(%x: tensor<2xf32>, %w: tensor<3xf32> {dlc.name = "hidden.weight"}) -> tensor<3xf32> {
  %y = dlc.reduce sum %x axes [0] : (tensor<2xf32>) -> tensor<f32>
  // expected-error@+1 {{the loss does not depend on 'hidden.weight'; do not differentiate by it}}
  %d = dlc.gradient(%y) in (%w) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// -----

// Integers have no gradient.
// expected-note@+1 {{is this value}}
func.func @through_integers(%x: tensor<2xf32> {dlc.name = "x"}) -> tensor<2xf32> {
  %i = dlc.cast %x to i32 : (tensor<2xf32>) -> tensor<2xi32>
  %f = dlc.cast %i to f32 : (tensor<2xi32>) -> tensor<2xf32>
  %y = dlc.reduce sum %f axes [0] : (tensor<2xf32>) -> tensor<f32>
  // expected-error@+1 {{the loss does not depend on 'x'}}
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

func.func @no_rule(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'dlc.fusion' is on the path from the loss to a differentiated value, but has no gradient}}
  %f = dlc.fusion (%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    %s = dlc.sin %a : (tensor<2xf32>) -> tensor<2xf32>
    dlc.yield %s : tensor<2xf32>
  }
  %y = dlc.reduce sum %f axes [0] : (tensor<2xf32>) -> tensor<f32>
  // expected-note@+1 {{the gradient is requested here}}
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{has no gradient for a dynamic shape: found 'tensor<?xf32>'; give the inputs' shapes}}
  %y = dlc.reduce sum %x axes [0] : (tensor<?xf32>) -> tensor<f32>
  // expected-note@+1 {{the gradient is requested here}}
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// -----

func.func @condition(%x: tensor<f32>, %c: tensor<i1>) -> tensor<f32> {
  // expected-error@+1 {{the trip count of a loop with a condition is not known in advance}}
  %y = dlc.loop while(%c : tensor<i1>) inits(%x : tensor<f32>) -> (tensor<f32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<f32>):
    %s = dlc.sin %v : (tensor<f32>) -> tensor<f32>
    dlc.yield %c, %s : tensor<i1>, tensor<f32>
  }
  // expected-note@+1 {{the gradient is requested here}}
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}

// -----

func.func @trip(%x: tensor<f32>, %n: tensor<i64>) -> tensor<f32> {
  // expected-error@+1 {{make the trip count a constant}}
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<f32>) -> (tensor<f32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<f32>):
    %s = dlc.sin %v : (tensor<f32>) -> tensor<f32>
    dlc.yield %s : tensor<f32>
  }
  // expected-note@+1 {{the gradient is requested here}}
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}

// Attributes that passes exchange (C8): names and types.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

func.func @operation(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C8: attribute 'dlc.kernl' is unknown; required: one of the attributes in docs/reference/attributes.md; remove it or correct its name}}
  %y = dlc.relu %x {dlc.kernl = "onednn"} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @string(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C8: attribute 'dlc.kernel': required: a string; found: 3 : i64; correct the value}}
  %y = dlc.relu %x {dlc.kernel = 3} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @unit(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C8: attribute 'dlc.no_gradient': required: a unit attribute, without a value; found: true; correct the value}}
  %y = dlc.relu %x {dlc.no_gradient = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @list(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C8: attribute 'dlc.candidates': required: a list, such as ["a", "b"]; found: "onednn"; correct the value}}
  %y = dlc.relu %x {dlc.candidates = "onednn"} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @dictionary(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C8: attribute 'dlc.parameters': required: a dictionary, such as {layer = 0}; found: "fast"; correct the value}}
  %y = dlc.relu %x {dlc.parameters = "fast"} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{C8: attribute 'dlc.estimated_memory': required: an integer; found: "4 KiB"; correct the value}}
module attributes {dlc.estimated_memory = "4 KiB"} {}

// -----

// expected-error @+1 {{C8: attribute 'dlc.buckets': required: integers, such as array<i64: 1, 2>; found: 4 : i64; correct the value}}
module attributes {dlc.buckets = 4} {}

// -----

// expected-error @+1 {{C8: attribute 'dlc.nam' is unknown; required: one of the attributes in docs/reference/attributes.md; remove it or correct its name}}
func.func private @argument(tensor<2xf32> {dlc.nam = "x"})

// -----

// expected-error @+1 {{C8: attribute 'dlc.name': required: a string; found: unit; correct the value}}
func.func private @argument_type(tensor<2xf32> {dlc.name})

// -----

// expected-error @+1 {{C8: attribute 'dlc.value': required: the elements of a tensor, such as dense<0.0> : tensor<2xf32>; found: 1 : i64; correct the value}}
func.func private @elements(tensor<2xf32> {dlc.value = 1})

// -----

// expected-error @+1 {{C8: attribute 'dlc.result' is unknown; required: one of the attributes in docs/reference/attributes.md; remove it or correct its name}}
func.func private @result() -> (tensor<2xf32> {dlc.result})

// -----

// expected-error @+1 {{C8: attribute 'dlc.layout': required: a string; found: unit; correct the value}}
func.func private @result_type() -> (tensor<2xf32> {dlc.layout})

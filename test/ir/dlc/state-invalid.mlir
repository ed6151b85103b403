// State of a training step: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{C1: `dlc.state` must be a unit attribute of a tensor that also has a `dlc.name`; found unit on argument 0 of type 'tensor<2xf32>', which has no name; correct the attributes}}
func.func @c1_name(%w: tensor<2xf32> {dlc.state}) { return }

// -----

// expected-error @+1 {{C1: `dlc.state` must be a unit attribute of a tensor that also has a `dlc.name`; found true on argument 0 of type 'tensor<2xf32>'; correct the attributes}}
func.func @c1_unit(%w: tensor<2xf32> {dlc.name = "w", dlc.state = true}) { return }

// -----

// expected-error @+1 {{C1: `dlc.state` must be a unit attribute of a tensor that also has a `dlc.name`; found unit on argument 0 of type 'f32'; correct the attributes}}
func.func @c1_tensor(%w: f32 {dlc.name = "w", dlc.state}) { return }

// -----

// expected-error @+1 {{C1: `dlc.state` must be a unit attribute of a tensor that also has a `dlc.name`; found unit on result 0 of type 'tensor<2xf32>', which has no name; correct the attributes}}
func.func private @c1_result(tensor<2xf32> {dlc.name = "w", dlc.state}) -> (tensor<2xf32> {dlc.state})

// -----

// expected-error @+1 {{C2: the names of states must differ; found 'w' on arguments 0 and 2; rename one}}
func.func private @c2(tensor<2xf32> {dlc.name = "w", dlc.state}, tensor<2xf32> {dlc.name = "w"}, tensor<i64> {dlc.name = "w", dlc.state})

// -----

// expected-error @+1 {{C2: the names of states must differ; found 'w' on results 0 and 1; rename one}}
func.func private @c2_results(tensor<2xf32> {dlc.name = "w", dlc.state}) -> (tensor<2xf32> {dlc.name = "w", dlc.state}, tensor<2xf32> {dlc.name = "w", dlc.state})

// -----

// expected-error @+1 {{C3: a state result must have the name of a state argument; found 'v' on result 0 alone; mark the argument with `dlc.state`}}
func.func private @c3_name(tensor<2xf32> {dlc.name = "w", dlc.state}, tensor<2xf32> {dlc.name = "v"}) -> (tensor<2xf32> {dlc.name = "v", dlc.state})

// -----

// expected-error @+1 {{C3: the next value of a state must have its type, here 'tensor<2xf32>'; found 'tensor<2xf16>' for 'w'; cast or reshape it}}
func.func private @c3_type(tensor<2xf32> {dlc.name = "w", dlc.state}) -> (tensor<2xf16> {dlc.name = "w", dlc.state})

// -----

// expected-error @+1 {{C4: `dlc.init` requires `dlc.state` and must have the argument's shape and element type, 'tensor<2xf32>'; found it without `dlc.state` on argument 0; add that or remove it}}
func.func private @c4_alone(tensor<2xf32> {dlc.name = "w", dlc.init = dense<1.0> : tensor<2xf32>})

// -----

// expected-error @+1 {{C4: `dlc.init` requires `dlc.state` and must have the argument's shape and element type, 'tensor<2xf32>'; found 'tensor<3xf32>'; correct the value}}
func.func private @c4_type(tensor<2xf32> {dlc.name = "w", dlc.state, dlc.init = dense<1.0> : tensor<3xf32>})

// -----

// expected-error @+1 {{C4: `dlc.init` requires `dlc.state` and must have the argument's shape and element type, 'tensor<2xf32>'; found an attribute that is no tensor; give dense elements}}
func.func private @c4_kind(tensor<2xf32> {dlc.name = "w", dlc.state, dlc.init = 1.0 : f32})

// -----

// The initial value of a split state has the shape of the complete tensor.
// expected-error @+1 {{C4: `dlc.init` requires `dlc.state` and must have the argument's shape and element type, 'tensor<4xf32>'; found 'tensor<2xf32>'; correct the value}}
func.func private @c4_part(tensor<2xf32> {dlc.name = "w", dlc.state, dlc.part = array<i64: 0, 2, 1>, dlc.init = dense<1.0> : tensor<2xf32>})

// -----

// expected-error @+1 {{C5: `dlc.split` must be a dimension, a number of ranks and a number of blocks, whose product divides the size of the dimension; found array<i64: 1, 4, 1> on a tensor of type 'tensor<4x6xf32>'}}
func.func private @c5_split(tensor<4x6xf32> {dlc.split = array<i64: 1, 4, 1>})

// -----

// expected-error @+1 {{C5: `dlc.part` must be a dimension, a number of ranks and a number of blocks}}
func.func private @c5_part(tensor<4x6xf32> {dlc.part = array<i64: 2, 4, 1>})

// -----

// expected-error @+1 {{C5: `dlc.split` must be a dimension, a number of ranks and a number of blocks}}
func.func private @c5_result(tensor<4x6xf32>) -> (tensor<4x6xf32> {dlc.split = array<i64: 0>})

// -----

// expected-error @+1 {{C6: `dlc.counted` must be a dimension and the index of an i64 result of rank 0, which is the size of this dimension; found array<i64: 1, 1> on a result of type 'tensor<4xf32>'; write array<i64: 0, 1> if the second result is the size of the first dimension}}
func.func private @c6_dimension() -> (tensor<4xf32> {dlc.counted = array<i64: 1, 1>}, tensor<i64>)

// -----

// expected-error @+1 {{C6: `dlc.counted` must be a dimension and the index of an i64 result}}
func.func private @c6_counter() -> (tensor<4xf32> {dlc.counted = array<i64: 0, 1>}, tensor<1xi64>)

// -----

// expected-error @+1 {{C6: `dlc.counted` must be a dimension and the index of an i64 result}}
func.func private @c6_number() -> (tensor<4xf32> {dlc.counted = array<i64: 0, 2>}, tensor<i64>)

// -----

// expected-error @+1 {{C7: `dlc.packed` must be a type of 4-bit integers whose bytes have the type of the argument or result; found tensor<2x5xi4> on a tensor of type 'tensor<2x5xui8>'; write tensor<2x5xi4> for a tensor<2x3xui8>}}
func.func private @c7_shape(tensor<2x5xui8> {dlc.packed = tensor<2x5xi4>})

// -----

// expected-error @+1 {{C7: `dlc.packed` must be a type of 4-bit integers}}
func.func private @c7_type() -> (tensor<4xui8> {dlc.packed = tensor<4xi8>})

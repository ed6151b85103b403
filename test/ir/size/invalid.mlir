// Sizes over symbols: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{C1: symbol 'batch': required: MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL]; found: '1-64'; write for example 1..512:8@128}}
func.func private @symbol_c1(tensor<?xf32, #size.dims<[#size.symbol<"batch", "1-64">]>>)

// -----

// expected-error @+1 {{C1: symbol 'batch': required: a multiple of 8 in the range; found: none from 1; widen the range}}
func.func private @symbol_c1_range(tensor<?xf32, #size.dims<[#size.symbol<"batch", "1..4:8">]>>)

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C1: required: a known symbol at character 0; found: 'length'; correct the size 'length'}}
func.func private @expr_c1(tensor<?xf32, #size.dims<[#size.expr<"length", [#batch]>]>>)

// -----

#batch = #size.symbol<"batch", "0..64">
// expected-error @+1 {{C1: the size 'floordiv(8, batch)' is not defined: a divisor may be 0 or negative; change it}}
func.func private @expr_c1_divisor(tensor<?xf32, #size.dims<[#size.expr<"floordiv(8, batch)", [#batch]>]>>)

// -----

#a = #size.symbol<"batch", "1..64">
#b = #size.symbol<"batch", "1..32">
// expected-error @+1 {{C2: the names of symbols must differ; found 'batch' twice; rename one}}
func.func private @expr_c2(tensor<?xf32, #size.dims<[#size.expr<"batch", [#a, #b]>]>>)

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C1: the encoding must have one size for each `?` of the type, here 2; found 1; add or remove sizes}}
func.func private @dims_c1(tensor<?x?xf32, #size.dims<[#batch]>>)

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C1: the encoding must have one size for each `?` of the type, here 0; found 1; remove the sizes}}
func.func private @dims_c1_static(tensor<4xf32, #size.dims<[#batch]>>)

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C1: the device and layout of a tensor must follow its sizes; found 8 : i64; write #dlc.on<..>}}
func.func private @dims_c1_place(tensor<?xf32, #size.dims<[#batch], 8>>)

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C1: the device and layout of a tensor must follow its sizes; found #size.dims<}}
func.func private @dims_c1_nested(tensor<?xf32, #size.dims<[#batch], #size.dims<[#batch]>>>)

// -----

// The layout is checked, too.
#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{C2: the layout must name each of the 2 dimensions once, from 'a' on; found 'abc'; correct the tag}}
func.func private @layout(tensor<?x4xf32, #size.dims<[#batch], #dlc.on<cpu, abc>>>)

// -----

#eight = #size.symbol<"eight", "8..8">
// expected-error @+1 {{C2: the size of a `?` must have a symbol; found "8"; write the number in the type}}
func.func private @dims_c2(tensor<?xf32, #size.dims<[#eight]>>)

// -----

// expected-error @+1 {{required: a size; found: "batch"; write #size.symbol<..> or #size.expr<..>}}
func.func private @no_size(tensor<?xf32, #size.dims<["batch"]>>)

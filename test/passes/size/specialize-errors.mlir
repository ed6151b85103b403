// Values of symbols that are refused.
// RUN: not dlc-opt %s --dlc-specialize='sizes=batch=65' 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not dlc-opt %s --dlc-specialize='sizes=rows=4' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dlc-opt %s --dlc-specialize='sizes=batch' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not dlc-opt %s --dlc-specialize='sizes=batch=2' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not dlc-opt %s --dlc-specialize='sizes=batch=4,batch=5' 2>&1 | FileCheck %s --check-prefix=TWICE

// RANGE: error: size 'batch' is out of range; required: 1 to 64; found: 65; use a size in the range
// NAME: error: required: a symbol of the module (batch); found: 'rows'; correct the name
// TEXT: error: required: NAME=SIZE; found: 'batch'; write for example batch=4
// TWICE: error: required: one size per symbol; found: a second size of 'batch' in 'batch=5'; remove one of them
// NEGATIVE: error: required: sizes of 0 or more; found: -1 for the size 'batch - 3'; use other sizes
#batch = #size.symbol<"batch", "1..64">
func.func private @f(tensor<?xf32, #size.dims<[#size.expr<"batch - 3", [#batch]>]>>)

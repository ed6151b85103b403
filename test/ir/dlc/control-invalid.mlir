// Branches, loops and fused regions: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

func.func @if_c1(%c: tensor<2xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.if' op C1: the condition must have one element; found [2]; slice or reduce it}}
  %0 = dlc.if %c : (tensor<2xi1>) -> tensor<4xf32> {
    dlc.yield %x : tensor<4xf32>
  } else {
    dlc.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @if_c2(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'dlc.if' op C2: both regions must yield the result types ('tensor<4xf32>'); found ('tensor<5xf32>') in the else region; correct the yield}}
  %0 = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    dlc.yield %x : tensor<4xf32>
  } else {
    dlc.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @if_c2_number(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.if' op C2: both regions must yield the result types ('tensor<4xf32>'); found () in the then region}}
  %0 = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
  } else {
    dlc.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C1: required: a trip count or a condition; found none; add one of them}}
  %0 = dlc.loop inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c1_trip(%n: tensor<1xi64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C1: the trip count must be a 0-d i64; found 'tensor<1xi64>'; reshape or cast it}}
  %0 = dlc.loop trip(%n : tensor<1xi64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c1_condition(%c: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C1: the condition must be a 0-d bool; found 'tensor<1xi1>'; reshape or cast it}}
  %0 = dlc.loop while(%c : tensor<1xi1>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield %c, %v : tensor<1xi1>, tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c2_arguments(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C2: the region must take the iteration number and 1 carried values; found 1 arguments; correct its arguments}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>):
    dlc.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c2_iteration(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C2: the region's first argument must be a 0-d i64; found 'tensor<i32>'}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    dlc.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c2_condition(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C2: the region must yield the next condition, a 0-d bool, first; found ('tensor<4xf32>'); correct the yield}}
  %0 = dlc.loop while(%c : tensor<i1>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield %v : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c2_number(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C2: the region must yield one value per result and at least the 1 carried ones; found 0 values and 1 results; correct the yield}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield
  }
  return
}

// -----

func.func @loop_c2_types(%n: tensor<i64>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'dlc.loop' op C2: carried value 0 must have the same type everywhere; its result is 'tensor<4xf32>', its yielded value is 'tensor<5xf32>'; correct one of them}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    dlc.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @loop_c3_condition(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.loop' op C3: stacked results need a trip count and no condition; drop the condition, or carry the values}}
  %0 = dlc.loop trip(%n : tensor<i64>) while(%c : tensor<i1>) inits() -> (tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>):
    dlc.yield %c, %x : tensor<i1>, tensor<4xf32>
  }
  return
}

// -----

func.func @loop_c3_size(%x: tensor<4xf32>) {
  %n = dlc.constant dense<3> : tensor<i64>
  // expected-error @+1 {{'dlc.loop' op C3: stacked result 0 must be 'tensor<3x4xf32>'; found 'tensor<5x4xf32>'; correct the result type}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits() -> (tensor<5x4xf32>) {
  ^bb0(%i: tensor<i64>):
    dlc.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @fusion_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.fusion' op C1: the block arguments must have the operands' types ('tensor<4xf32>'); found ('tensor<5xf32>'); correct the arguments}}
  %0 = "dlc.fusion"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    %c = dlc.constant dense<1.0> : tensor<4xf32>
    dlc.yield %c : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fusion_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.fusion' op C2: the body must yield the result types ('tensor<?xf32>'); found ('tensor<4xf32>'); correct the yield}}
  %0 = dlc.fusion(%a = %x) : (tensor<4xf32>) -> tensor<?xf32> {
    dlc.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @fusion_isolated(%x: tensor<4xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = dlc.fusion() : () -> tensor<4xf32> {
    // expected-error @+1 {{'dlc.abs' op using value defined outside the region}}
    %1 = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @no_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.fusion' op must have regions that end with dlc.yield; add one}}
  %0 = "dlc.fusion"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    func.return
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_tensor(%c: tensor<i1>, %i: index) {
  // expected-error @+1 {{'dlc.loop' op must yield ranked tensors; found 'index'}}
  "dlc.loop"(%c) <{operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%a: tensor<i64>):
    "dlc.yield"(%i) : (index) -> ()
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @loop_c4(%n: tensor<i64>, %x: tensor<i4>) {
  // expected-error @+1 {{'dlc.loop' op C4: 4-bit integers are stacked as rows; required: a rank of 1 or more; found 'tensor<i4>'; cast it to 8 bits}}
  %0 = dlc.loop trip(%n : tensor<i64>) inits() -> (tensor<?xi4>) {
  ^bb0(%i: tensor<i64>):
    dlc.yield %x : tensor<i4>
  }
  return
}

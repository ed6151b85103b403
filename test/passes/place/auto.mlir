// Placement by cost of two branches of matmuls and the operation that joins them.
// RUN: dlc-opt %s --dlc-place='place=auto:cpu;cuda:0' --dlc-verify-placement | FileCheck %s --check-prefix=GPU
// RUN: dlc-opt %s --dlc-place='place=auto:cpu;cpu:1' --dlc-verify-placement | FileCheck %s --check-prefix=SAME
// RUN: dlc-opt %s --dlc-place='place=auto:cpu:1' --dlc-verify-placement | FileCheck %s --check-prefix=GIVEN
// RUN: dlc-opt %s --dlc-place='place=split:cpu;cpu:1' --dlc-verify-placement | FileCheck %s --check-prefix=SPLIT
// RUN: dlc-opt %s --dlc-place='place=auto:cpu=14MiB;cpu:1=20MiB' --dlc-verify-placement | FileCheck %s --check-prefix=ROOM
// RUN: not dlc-opt %s --dlc-place='place=auto:cpu=5MiB;cpu:1=5MiB' 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: not dlc-opt %s --dlc-place='place=auto:cpu=5MiB' 2>&1 | FileCheck %s --check-prefix=ONE

// Matmuls are placed on the device on which they are fast, and their results stay there.
// GPU-COUNT-4: dlc.matmul {{.*}} -> tensor<1024x1024xf32, #dlc.on<cuda:0>>
// GPU: dlc.add {{.*}} -> tensor<1024x1024xf32, #dlc.on<cuda:0>>
// GPU: dlc.transfer

// Devices of equal speed do not share work without a request.
// SAME: func.func @main
// SAME-NOT: #dlc.on<cpu:1>
// SAME: return

// Inputs and outputs are on the default device.
// GIVEN: func.func @main(%{{.*}}: tensor<1024x1024xf32, #dlc.on<cpu>>
// GIVEN-COUNT-4: dlc.matmul {{.*}} -> tensor<1024x1024xf32, #dlc.on<cpu:1>>
// GIVEN: dlc.add {{.*}} -> tensor<1024x1024xf32, #dlc.on<cpu:1>>

// With `split:`, each device gets a branch.
// SPLIT-COUNT-2: dlc.matmul {{.*}} -> tensor<1024x1024xf32, #dlc.on<cpu>>
// SPLIT-COUNT-2: dlc.matmul {{.*}} -> tensor<1024x1024xf32, #dlc.on<cpu:1>>
// SPLIT: dlc.add

// A part is on the other device if the memory of one is not sufficient.
// ROOM: dlc.matmul {{.*}} -> tensor<1024x1024xf32, #dlc.on<cpu:1>>

// LITTLE: found no placement within the memory limits; on one device the model takes about {{[0-9]+}} bytes; limits: cpu 5242880 cpu:1 5242880; increase a limit, or add a device
// ONE: found no placement within the memory limits; {{.*}}; limits: cpu 5242880; increase a limit
func.func @main(%x: tensor<1024x1024xf32> {dlc.name = "x"}) -> (tensor<1024x1024xf32> {dlc.name = "y"}) {
  %0 = dlc.matmul %x, %x : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("left1")
  %1 = dlc.matmul %0, %0 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("left2")
  %2 = dlc.matmul %x, %x {transpose_a} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("right1")
  %3 = dlc.matmul %2, %2 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("right2")
  %4 = dlc.add %1, %3 : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> loc("join")
  return %4 : tensor<1024x1024xf32>
}

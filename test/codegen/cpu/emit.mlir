// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=512' -dlc-emit-kernels='vector-bits=512' -cse | FileCheck %s

// Cheap bodies process two registers per iteration, and the tail is a shorter vector without masks.
// CHECK-LABEL: llvm.func @k0_add
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: llvm.store {{.*}} : vector<32xf32>
// CHECK: llvm.load {{.*}} -> vector<5xf32>
// CHECK-NOT: masked
func.func @main(%x: tensor<197xf32>, %y: tensor<197xf32>) -> tensor<197xf32> {
  %z = dlc.add %x, %y : (tensor<197xf32>, tensor<197xf32>) -> tensor<197xf32>
  return %z : tensor<197xf32>
}

// -----

// Dimensions that all operands access contiguously are merged.
// CHECK-LABEL: llvm.func @k0_relu
// CHECK-COUNT-1: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: arith.remui
// CHECK: llvm.return
func.func @main(%x: tensor<8x16x32xf32>) -> tensor<8x16x32xf32> {
  %z = dlc.relu %x : (tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
  return %z : tensor<8x16x32xf32>
}

// -----

// The row's statistics are computed before its loop, with four registers of partial sums. The maximum ignores NaN,
// and a mask records NaN.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: iter_args({{.*}}) -> (vector<64xf32>, vector<16xi1>)
// CHECK-COUNT-2: arith.cmpf uno, {{.*}} : vector<16xf32>
// CHECK: vector.reduction <maxnumf>
// CHECK: vector.reduction <or>
// CHECK: iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: vector.reduction <add>
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : vector<16xf32>
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}

// -----

// A reduction over rows is vectorized along the columns.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK-NOT: vector.reduction
// CHECK: llvm.return
func.func @main(%x: tensor<100x64xf32>) -> tensor<64xf32> {
  %y = dlc.reduce sum %x axes [0] : (tensor<100x64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// bf16 is computed in f32 and rounded with integer operations when stored.
// CHECK-LABEL: llvm.func @k0_mul
// CHECK: llvm.load {{.*}} -> vector<32xi16>
// CHECK: arith.mulf {{.*}} : vector<32xf32>
// CHECK: arith.trunci {{.*}} to vector<32xi16>
func.func @main(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %y = dlc.mul %x, %x : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  return %y : tensor<64xbf16>
}

// -----

// Sums over a batch: work units in memory order, partial sums in scratch memory, four rows per iteration, one kernel for both
// sums. Another kernel adds the partial sums of 16 units in f64.
// CHECK-LABEL: llvm.func @k0_reduce_mul_reduce
// CHECK-SAME: %{{.*}}: i64, %[[SCRATCH:[^ ]*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.getelementptr %[[SCRATCH]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: llvm.getelementptr %[[SCRATCH]]
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK: llvm.store {{.*}} : vector<16xf64>
// CHECK-LABEL: llvm.func @k1_reduce_cast_reduce_cast
// CHECK: arith.addf {{.*}} : vector<16xf64>
// CHECK: arith.truncf
// CHECK: llvm.return
func.func @main(%x: tensor<8192x128xf32>, %dy: tensor<8192x128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
  %a = dlc.reduce sum %dy axes [0] : (tensor<8192x128xf32>) -> tensor<128xf32>
  %m = dlc.mul %dy, %x : (tensor<8192x128xf32>, tensor<8192x128xf32>) -> tensor<8192x128xf32>
  %b = dlc.reduce sum %m axes [0] : (tensor<8192x128xf32>) -> tensor<128xf32>
  return %a, %b : tensor<128xf32>, tensor<128xf32>
}

// -----

// Few columns: sums of eight rows in f32 are added in f64; the following rows are prefetched.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: "llvm.intr.prefetch"
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<16xf32>
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK: arith.addf {{.*}} : vector<16xf64>
// CHECK: llvm.store {{.*}} : vector<16xf64>
// CHECK-LABEL: llvm.func @k1_reduce_cast
func.func @main(%x: tensor<8192x16xf32>) -> tensor<16xf32> {
  %a = dlc.reduce sum %x axes [0] : (tensor<8192x16xf32>) -> tensor<16xf32>
  return %a : tensor<16xf32>
}

// -----

// A result that is larger than the caches is written with non-temporal stores, if the caller's memory is aligned and the kernel does not
// work in place. Four parts of it are processed in an interleaved order, since several memory streams are faster than one.
// CHECK-LABEL: llvm.func @k0_exp
// CHECK: llvm.ptrtoint
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.sse.sfence"
// CHECK: else
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>
// CHECK-NOT: sfence
// CHECK: llvm.return
func.func @main(%x: tensor<8192x1024xf32>) -> tensor<8192x1024xf32> {
  %y = dlc.exp %x : (tensor<8192x1024xf32>) -> tensor<8192x1024xf32>
  return %y : tensor<8192x1024xf32>
}

// -----

// A long sum is computed in blocks, and the rounding error of each is added to the next one. Rows that are read twice prefetch the
// next row.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>, vector<64xf32>)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: "llvm.intr.prefetch"
// CHECK: llvm.return
func.func @main(%x: tensor<64x32768xf32>) -> tensor<64x32768xf32> {
  %m = dlc.reduce mean %x axes [1] keepdims : (tensor<64x32768xf32>) -> tensor<64x1xf32>
  %y = dlc.sub %x, %m : (tensor<64x32768xf32>, tensor<64x1xf32>) -> tensor<64x32768xf32>
  return %y : tensor<64x32768xf32>
}

// -----

// Several short rows are processed at a time, in two memory streams; values of the channels are loaded before the loop over rows.
// CHECK-LABEL: llvm.func @k0_mul_add
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.for
// CHECK: "llvm.intr.prefetch"
// CHECK-COUNT-4: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @main(%x: tensor<4x12544x16xf32>, %s: tensor<4x1x16xf32>, %b: tensor<16xf32>) -> tensor<4x12544x16xf32> {
  %m = dlc.mul %x, %s : (tensor<4x12544x16xf32>, tensor<4x1x16xf32>) -> tensor<4x12544x16xf32>
  %y = dlc.add %m, %b : (tensor<4x12544x16xf32>, tensor<16xf32>) -> tensor<4x12544x16xf32>
  return %y : tensor<4x12544x16xf32>
}

// -----

// The last chunk of rows may be shorter.
// CHECK-LABEL: llvm.func @k0_mul
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load
// CHECK-NOT: llvm.load
// CHECK: scf.for
// CHECK: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.return
func.func @main(%x: tensor<4x12541x16xf32>, %s: tensor<4x1x16xf32>) -> tensor<4x12541x16xf32> {
  %m = dlc.mul %x, %s : (tensor<4x12541x16xf32>, tensor<4x1x16xf32>) -> tensor<4x12541x16xf32>
  return %m : tensor<4x12541x16xf32>
}

// -----

// Indices are compared with a label by their distance from the index of the first lane, in 32 bits.
// CHECK-LABEL: llvm.func @k0_iota_compare
// CHECK: arith.minsi {{.*}} : i64
// CHECK: arith.maxsi {{.*}} : i64
// CHECK: arith.trunci {{.*}} : i64 to i32
// CHECK: arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// CHECK: arith.cmpi eq, {{.*}} : vector<16xi32>
func.func @main(%t: tensor<64x1xi64>, %x: tensor<64x160xf32>) -> tensor<64x160xf32> {
  %p = dlc.iota 1 : tensor<1x160xi64>
  %c = dlc.compare eq %p, %t : (tensor<1x160xi64>, tensor<64x1xi64>) -> tensor<64x160xi1>
  %z = dlc.constant dense<0.0> : tensor<f32>
  %y = dlc.select %c, %x, %z : (tensor<64x160xi1>, tensor<64x160xf32>, tensor<f32>) -> tensor<64x160xf32>
  return %y : tensor<64x160xf32>
}

// -----

// Outputs that are large together use non-temporal stores. If the first one is stored in place, the other still uses them.
// CHECK-LABEL: llvm.func @k0_mul_add
// CHECK: scf.if
// CHECK-COUNT-8: nontemporal
// CHECK: sfence
// CHECK: else
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<32xf32>
// CHECK: nontemporal
// CHECK: sfence
// CHECK: else
// CHECK-NOT: nontemporal
// CHECK: llvm.return
func.func @main(%x: tensor<2048x1024xf32>) -> (tensor<2048x1024xf32>, tensor<2048x1024xf32>) {
  %m = dlc.mul %x, %x : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %y = dlc.add %m, %x : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  return %m, %y : tensor<2048x1024xf32>, tensor<2048x1024xf32>
}

// -----

// Parts of rows use non-temporal stores if each part is aligned to a register.
// CHECK-LABEL: llvm.func @k0_concat_mul
// CHECK: nontemporal
// CHECK: llvm.return
func.func @main(%x: tensor<80000x32xf32>, %y: tensor<80000x64xf32>, %s: tensor<96xf32>) -> tensor<80000x96xf32> {
  %j = dlc.concat 1 (%x, %y) : (tensor<80000x32xf32>, tensor<80000x64xf32>) -> tensor<80000x96xf32>
  %m = dlc.mul %j, %s : (tensor<80000x96xf32>, tensor<96xf32>) -> tensor<80000x96xf32>
  return %m : tensor<80000x96xf32>
}

// -----

// CHECK-LABEL: llvm.func @k0_concat_mul
// CHECK-NOT: nontemporal
// CHECK: llvm.return
func.func @main(%x: tensor<80000x24xf32>, %y: tensor<80000x40xf32>, %s: tensor<64xf32>) -> tensor<80000x64xf32> {
  %j = dlc.concat 1 (%x, %y) : (tensor<80000x24xf32>, tensor<80000x40xf32>) -> tensor<80000x64xf32>
  %m = dlc.mul %j, %s : (tensor<80000x64xf32>, tensor<64xf32>) -> tensor<80000x64xf32>
  return %m : tensor<80000x64xf32>
}

// -----

// A tile of registers that contain a splat.
// CHECK-LABEL: llvm.func @k0_transpose
// CHECK: vector.shuffle
func.func @main() -> tensor<64x64x4x32xf32> {
  %c = dlc.constant dense<0.0> : tensor<4x32x64x64xf32>
  %t = dlc.transpose %c [2, 3, 0, 1] : (tensor<4x32x64x64xf32>) -> tensor<64x64x4x32xf32>
  return %t : tensor<64x64x4x32xf32>
}

// -----

// A padded operand is read by masked loads of the elements inside.
// CHECK-LABEL: llvm.func @k0_pad
// CHECK: arith.cmpi ult, {{.*}} : vector<{{.*}}xi32>
// CHECK: llvm.intr.masked.load
// CHECK-NOT: gather
// CHECK: llvm.return
func.func @main(%x: tensor<64x100xf32>, %p: tensor<f32>) -> tensor<64x106xf32> {
  %y = dlc.pad constant %x, %p low [0, 3] high [0, 3] : (tensor<64x100xf32>, tensor<f32>) -> tensor<64x106xf32>
  return %y : tensor<64x106xf32>
}

// -----

// In the interior of a row with edge padding, lanes are contiguous.
// CHECK-LABEL: llvm.func @k0_pad
// CHECK: scf.if
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK-NEXT: scf.yield
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.return
func.func @main(%x: tensor<64x100xf32>, %p: tensor<f32>) -> tensor<64x106xf32> {
  %y = dlc.pad reflect %x, %p low [0, 3] high [0, 3] : (tensor<64x100xf32>, tensor<f32>) -> tensor<64x106xf32>
  return %y : tensor<64x106xf32>
}

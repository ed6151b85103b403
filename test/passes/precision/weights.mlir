// RUN: dlc-opt %s -split-input-file -dlc-weights=weights=bf16 2>/dev/null | FileCheck %s --check-prefix=BF16
// RUN: dlc-opt %s -split-input-file -dlc-weights=weights=int8 2>/dev/null | FileCheck %s --check-prefix=INT8
// RUN: dlc-opt %s -split-input-file -dlc-weights=weights=int8 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not dlc-opt %s -split-input-file -dlc-weights=weights=int4 2>&1 | FileCheck %s --check-prefix=WRONG

// Constant operands of matmuls; not of other operations, not small ones, and not those of a strict matmul.
// BF16-LABEL: @main
// BF16-DAG: %[[W:.*]] = dlc.constant dense<{{.*}}> : tensor<64x128xbf16>
// BF16: %[[C:.*]] = dlc.cast %[[W]] to f32 : (tensor<64x128xbf16>) -> tensor<64x128xf32>
// BF16: dlc.matmul %{{.*}}, %[[C]] :
// BF16: dlc.matmul %{{.*}} : (tensor<1x128xf32>, tensor<128x4xf32>)
// BF16: dlc.matmul %{{.*}} : (tensor<1x128xf32>, tensor<128x96xf32>)
// BF16: dlc.mul %{{.*}} : (tensor<64x96xf32>

// INT8-LABEL: @main
// INT8-DAG: %[[W:.*]] = dlc.constant dense<127> : tensor<64x128xi8>
// INT8-DAG: %[[S:.*]] = dlc.constant dense<{{.*}}> : tensor<128xf32>
// INT8: %[[C:.*]] = dlc.cast %[[W]] to f32 : (tensor<64x128xi8>) -> tensor<64x128xf32>
// INT8: %[[P:.*]] = dlc.matmul %{{.*}}, %[[C]] :
// INT8: %[[Y:.*]] = dlc.mul %[[P]], %[[S]]
// INT8: dlc.matmul %[[Y]],
// REMARK: remark: 1 weights are stored in int8: 0.0 MiB instead of 0.0; error relative to
// WRONG: error: weights 'int4': required: f32, bf16 or int8
func.func @main(%x: tensor<1x64xf32>, %z: tensor<64x96xf32>) -> (tensor<1x4xf32>, tensor<1x96xf32>, tensor<64x96xf32>) {
  %w = dlc.constant dense<0.3> : tensor<64x128xf32>
  %small = dlc.constant dense<0.5> : tensor<128x4xf32>
  %exact = dlc.constant dense<0.7> : tensor<128x96xf32>
  %other = dlc.constant dense<0.9> : tensor<64x96xf32>
  %0 = dlc.matmul %x, %w : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %1 = dlc.matmul %0, %small : (tensor<1x128xf32>, tensor<128x4xf32>) -> tensor<1x4xf32>
  %2 = dlc.matmul %0, %exact {dlc.accuracy = "strict"} : (tensor<1x128xf32>, tensor<128x96xf32>) -> tensor<1x96xf32>
  %3 = dlc.mul %z, %other : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  return %1, %2, %3 : tensor<1x4xf32>, tensor<1x96xf32>, tensor<64x96xf32>
}

// -----

// By default, weights that are exactly representable in 16 bits are stored in 16 bits for matmuls of few rows: such as those of a
// model that was trained in bf16 or f16. Other weights, and those of matmuls with many rows, remain f32.
// RUN: dlc-opt %s -split-input-file -dlc-weights 2>/dev/null | FileCheck %s --check-prefix=EXACT
// EXACT-LABEL: @exact
// EXACT-DAG: %[[B:.*]] = dlc.constant dense<5.000000e-01> : tensor<1024x1024xbf16>
// EXACT-DAG: %[[H:.*]] = dlc.constant dense<1.000980e+00> : tensor<1024x1024xf16>
// EXACT-DAG: %[[S:.*]] = dlc.constant dense<-6.097560e-05> : tensor<1024x1024xf16>
// EXACT-DAG: %[[F:.*]] = dlc.constant dense<3.000000e-01> : tensor<1024x1024xf32>
// EXACT: %[[X:.*]] = dlc.cast %[[B]] to f32
// EXACT: %[[P:.*]] = dlc.matmul %arg0, %[[X]]
// EXACT: %[[Y:.*]] = dlc.cast %[[H]] to f32
// EXACT: %[[Q:.*]] = dlc.matmul %[[P]], %[[Y]]
// EXACT: %[[Z:.*]] = dlc.cast %[[S]] to f32
// EXACT: %[[R:.*]] = dlc.matmul %[[Q]], %[[Z]]
// EXACT: dlc.matmul %[[R]], %[[F]]
// EXACT: dlc.matmul %arg1, %{{.*}} : (tensor<64x1024xf32>, tensor<1024x512xf32>)
func.func @exact(%x: tensor<1x1024xf32>, %many: tensor<64x1024xf32>) -> (tensor<1x1024xf32>, tensor<64x512xf32>) {
  %b = dlc.constant dense<0.5> : tensor<1024x1024xf32>
  // 1025 / 1024, and -1023 times the smallest f16 subnormal.
  %h = dlc.constant dense<1.0009765625> : tensor<1024x1024xf32>
  %s = dlc.constant dense<-6.097555160522461e-05> : tensor<1024x1024xf32>
  %f = dlc.constant dense<0.3> : tensor<1024x1024xf32>
  %m = dlc.constant dense<0.5> : tensor<1024x512xf32>
  %0 = dlc.matmul %x, %b : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %1 = dlc.matmul %0, %h : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %z = dlc.matmul %1, %s : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %2 = dlc.matmul %z, %f : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %3 = dlc.matmul %many, %m : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32>
  return %2, %3 : tensor<1x1024xf32>, tensor<64x512xf32>
}

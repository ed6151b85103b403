// RUN: dlc-opt %s -dlc-evaluate='ranks=3 rank=0' | FileCheck %s --check-prefixes=ALL,R0
// RUN: dlc-opt %s -dlc-evaluate='ranks=3 rank=2' | FileCheck %s --check-prefixes=ALL,R2
// RUN: not dlc-opt %s -dlc-evaluate='ranks=2' 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not dlc-opt %s -dlc-evaluate='ranks=3 rank=3' 2>&1 | FileCheck %s --check-prefix=RANK
// Shares differ between ranks; results gathered from them do not.

// SIZE: requires a world of 3 ranks; found: 2
// RANK: rank must be one of the ranks, 0 to 2; found 3

// ALL-LABEL: @sum
// ALL: dense<[3.000000e+00, 6.000000e+00]>
func.func @sum() -> tensor<2xf32> {
  %x = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = dlc.all_reduce sum %x : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// ALL-LABEL: @shares
// R0: dense<[3.000000e+00, 6.000000e+00]>
// R2: dense<[1.500000e+01, 1.800000e+01]>
func.func @shares() -> tensor<2xf32> {
  %x = dlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %y = dlc.reduce_scatter sum %x of 3 : (tensor<6xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
// ALL-LABEL: @combined
// ALL-DAG: dense<[3.000000e+00, 4.000000e+00]>
// ALL-DAG: dense<[5, 6]>
// ALL-DAG: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]>
// ALL-DAG: dense<[3.500000e+00, 4.500000e+00]>
func.func @combined() -> (tensor<2xf32>, tensor<2xi32>, tensor<6xf32>, tensor<2xf32>) {
  %x = dlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %i = dlc.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %s = dlc.reduce_scatter mean %x of 3 : (tensor<6xf32>) -> tensor<2xf32>
  %t = dlc.reduce_scatter max %i of 3 : (tensor<6xi32>) -> tensor<2xi32>
  %mean = dlc.all_reduce mean %s of 3 : (tensor<2xf32>) -> tensor<2xf32>
  %max = dlc.all_reduce max %t : (tensor<2xi32>) -> tensor<2xi32>
  %all = dlc.all_gather %s of 3 : (tensor<2xf32>) -> tensor<6xf32>
  %half = dlc.constant dense<0.5> : tensor<2xf32>
  %more = dlc.add %mean, %half : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %mean, %max, %all, %more : tensor<2xf32>, tensor<2xi32>, tensor<6xf32>, tensor<2xf32>
}
// ALL-LABEL: @rooted
// R0-DAG: dense<[9.000000e+00, 1.200000e+01]>
// R2-DAG: dense<0.000000e+00>
// ALL-DAG: dense<[3.000000e+00, 4.000000e+00]>
func.func @rooted() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = dlc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %s = dlc.reduce_scatter mean %x of 3 : (tensor<6xf32>) -> tensor<2xf32>
  %sum = dlc.all_reduce sum %s to 0 : (tensor<2xf32>) -> tensor<2xf32>
  %b = dlc.broadcast_ranks %s from 1 : (tensor<2xf32>) -> tensor<2xf32>
  return %sum, %b : tensor<2xf32>, tensor<2xf32>
}
// One row per rank, with an unspecified number of ranks.
// ALL-LABEL: @row
// R0: dense<1>
// R2: dense<3>
func.func @row() -> tensor<1xi64> {
  %x = dlc.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %0 = dlc.own_rows %x : (tensor<4xi64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}
// Shares that cross the boundary between operands.
// ALL-LABEL: @own
// R0: dense<[1.000000e+00, 2.000000e+00]>
// R2: dense<[5.000000e+00, 6.000000e+00]>
func.func @own() -> tensor<2xf32> {
  %x = dlc.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = dlc.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %0 = dlc.own_rows %x, %y of 3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

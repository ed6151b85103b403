// Collectives: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @all_reduce_c1(%x: tensor<2xi32>) {
  // expected-error @+1 {{C1: the kind must be sum, max, or (for floats) mean; found mean of 'i32'}}
  %0 = dlc.all_reduce mean %x : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
func.func @all_reduce_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{C2: the size of the group must be 1 or more; found 0}}
  %0 = dlc.all_reduce sum %x of 0 : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @all_reduce_c3(%x: tensor<2xf32>) {
  // expected-error @+1 {{C3: `to` must be a rank, 0 or more and less than 2; found 2}}
  %0 = dlc.all_reduce sum %x of 2 to 2 : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @all_reduce_c4(%x: tensor<2xf32>) {
  // expected-error @+1 {{C4: with `to`, the kind must be sum; found max}}
  %0 = dlc.all_reduce max %x to 0 : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @all_gather_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{C1: the size of the group must be given, since the result's shape depends on it}}
  %0 = dlc.all_gather %x : (tensor<2xf32>) -> tensor<4xf32>
  return
}
// -----
func.func @all_gather_c2(%x: tensor<f32>) {
  // expected-error @+1 {{C2: 'x' must have a first dimension}}
  %0 = dlc.all_gather %x of 2 : (tensor<f32>) -> tensor<2xf32>
  return
}
// -----
func.func @reduce_scatter_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: the kind must be sum, max, or (for floats) mean; found prod of 'f32'}}
  %0 = dlc.reduce_scatter prod %x of 2 : (tensor<4xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @reduce_scatter_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: the size of the group must be given}}
  %0 = dlc.reduce_scatter sum %x : (tensor<4xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @reduce_scatter_c3(%x: tensor<5xf32>) {
  // expected-error @+1 {{C3: the first dimension of 'x' must divide into 2 shares; found 5 rows}}
  %0 = dlc.reduce_scatter sum %x of 2 : (tensor<5xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @broadcast_ranks_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{C1: the size of the group must be 1 or more; found -1}}
  %0 = dlc.broadcast_ranks %x from 0 of -1 : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @broadcast_ranks_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{C2: `root` must be a rank, 0 or more; found -1}}
  %0 = dlc.broadcast_ranks %x from -1 : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @own_rows_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{C1: the size of the group must be 1 or more; found 0}}
  %0 = dlc.own_rows %x of 0 : (tensor<2xf32>) -> tensor<1xf32>
  return
}
// -----
func.func @own_rows_c2(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{C2: all dimensions except the first must be equal; 'xs[0]' is 'tensor<2x3xf32>', 'xs[1]' is 'tensor<2xf32>'}}
  %0 = dlc.own_rows %x, %y of 2 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
// -----
func.func @own_rows_c2_first(%x: tensor<f32>) {
  // expected-error @+1 {{C2: 'xs[0]' must have a first dimension}}
  %0 = dlc.own_rows %x of 1 : (tensor<f32>) -> tensor<1xf32>
  return
}
// -----
func.func @own_rows_c3(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{C3: the number of rows must be divisible into 2 shares; found 5; pad them}}
  %0 = dlc.own_rows %x, %y of 2 : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @own_rows_c3_none(%x: tensor<0xf32>) {
  // expected-error @+1 {{C3: without a size, each rank must have at least one row; found none; add rows}}
  %0 = dlc.own_rows %x : (tensor<0xf32>) -> tensor<1xf32>
  return
}
// -----
func.func @own_rows_c3_known(%x: tensor<?xf32>) {
  // expected-error @+1 {{C3: the rows of 'xs[0]' must be known}}
  %0 = dlc.own_rows %x of 2 : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// Gathers clamp their indices; scatters skip updates outside of the operand. Rows, windows, batching dimensions and single elements.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]])' i='i32([[2], [5], [-1]])' p='i32([[0, 2], [1, 1], [9, 9]])' k='i32([[0, 2], [1, 1], [2, 0]])'
// RUN: dlc run %s --input x=%t/x.npy --input i=%t/i.npy --input p=%t/p.npy --input k=%t/k.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: add float32 [3, 3]: 1 2 13 4 5 46 7 8 79
// CHECK-NEXT: along float32 [3, 2]: 1 3 5 5 9 7
// CHECK-NEXT: batched float32 [3, 3]: 1.5 2 4.5 4 11 6 12.5 8 13.5
// CHECK-NEXT: blocks float32 [3, 3]: 1 2 3 4 5.5 6.5 7 7.5 8.5
// CHECK-NEXT: columns float32 [3, 3]: 3 6 9 3 6 9 1 4 7
// CHECK-NEXT: point_max float32 [3, 3]: 1 2 3 4 9.5 6 7 8 9
// CHECK-NEXT: points float32 [3]: 3 5 9
// CHECK-NEXT: rows float32 [3, 3]: 7 8 9 7 8 9 1 2 3
// CHECK-NEXT: set float32 [3, 3]: 1 2 3 4 5 6 10 20 30
// CHECK-NEXT: windows float32 [2, 3, 2]: 4 5 5 6 5 6 7 8 8 9 8 9
func.func @main(%x: tensor<3x3xf32> {dlc.name = "x"}, %i: tensor<3x1xi32> {dlc.name = "i"}, %p: tensor<3x2xi32> {dlc.name = "p"},
                %k: tensor<3x2xi32> {dlc.name = "k"})
    -> (tensor<3x3xf32> {dlc.name = "rows"}, tensor<3x3xf32> {dlc.name = "columns"}, tensor<3xf32> {dlc.name = "points"},
        tensor<2x3x2xf32> {dlc.name = "windows"}, tensor<3x2xf32> {dlc.name = "along"}, tensor<3x3xf32> {dlc.name = "set"},
        tensor<3x3xf32> {dlc.name = "add"}, tensor<3x3xf32> {dlc.name = "point_max"}, tensor<3x3xf32> {dlc.name = "blocks"},
        tensor<3x3xf32> {dlc.name = "batched"}) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
  // The gathered columns are rows of the result.
  %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1],
      index_vector_dim = 1>, slice_sizes = array<i64: 3, 1>}> : (tensor<3x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
  %2 = "stablehlo.gather"(%x, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x3xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  // Windows of 2 x 2. The first component of an index vector is the column.
  %3 = "stablehlo.gather"(%x, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], start_index_map = [1, 0],
      index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x3xf32>, tensor<3x2xi32>) -> tensor<2x3x2xf32>
  %vectors = stablehlo.reshape %k : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
  %4 = "stablehlo.gather"(%x, %vectors) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0],
      start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<3x3xf32>, tensor<3x2x1xi32>) -> tensor<3x2xf32>
  %rows = stablehlo.constant dense<[[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]> : tensor<3x3xf32>
  %5 = "stablehlo.scatter"(%x, %i, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = "stablehlo.scatter"(%x, %i, %rows) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %points = stablehlo.constant dense<[2.5, 9.5, 99.0]> : tensor<3xf32>
  %7 = "stablehlo.scatter"(%x, %p, %points) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
      scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<3x2xi32>, tensor<3xf32>) -> tensor<3x3xf32>
  // Updates of 2 x 2 at (0, 2), which is outside, at (1, 1), and at (9, 9), which is outside.
  %blocks = stablehlo.constant dense<[[[1.5, 2.5], [3.5, 4.5]], [[5.5, 6.5], [7.5, 8.5]], [[0.5, 0.5], [0.5, 0.5]]]> : tensor<3x2x2xf32>
  %8 = "stablehlo.scatter"(%x, %p, %blocks) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
      scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<3x2xi32>, tensor<3x2x2xf32>) -> tensor<3x3xf32>
  %values = stablehlo.constant dense<[[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]> : tensor<3x2xf32>
  %9 = "stablehlo.scatter"(%x, %vectors, %values) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<3x3xf32>, tensor<3x2x1xi32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<2x3x2xf32>, tensor<3x2xf32>, tensor<3x3xf32>,
      tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

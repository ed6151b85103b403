// All operations in the generic form. They are printed in the pretty form, if they have one, and read again.
// RUN: dlc-opt %s | dlc-opt --mlir-print-op-generic | FileCheck %s

func.func @main(%x: tensor<4xf32>,
                %p: tensor<4xi1>,
                %s: tensor<f32>,
                %m: tensor<2x2xf32>,
                %i: tensor<i32>,
                %q: tensor<i1>,
                %v: tensor<2xi32>,
                %v1: tensor<2x1xi32>,
                %one: tensor<1xi32>,
                %w: tensor<2xf32>,
                %state: tensor<2xui64>,
                %pads: tensor<0x2xi32>,
                %tup: tuple<tensor<4xf32>, tensor<i32>>,
                %t: !stablehlo.token,
                %fut: !stablehlo.future<tensor<4xf32>>) {
  // CHECK: "stablehlo.abs"(
  %abs = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.cbrt"(
  %cbrt = "stablehlo.cbrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.ceil"(
  %ceil = "stablehlo.ceil"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.convert"(
  %convert = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.count_leading_zeros"(
  %count_leading_zeros = "stablehlo.count_leading_zeros"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.cosine"(
  %cosine = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.exponential"(
  %exponential = "stablehlo.exponential"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.exponential_minus_one"(
  %exponential_minus_one = "stablehlo.exponential_minus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.floor"(
  %floor = "stablehlo.floor"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.imag"(
  %imag = "stablehlo.imag"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.is_finite"(
  %is_finite = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.log"(
  %log = "stablehlo.log"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.log_plus_one"(
  %log_plus_one = "stablehlo.log_plus_one"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.logistic"(
  %logistic = "stablehlo.logistic"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.negate"(
  %negate = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.not"(
  %not = "stablehlo.not"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.popcnt"(
  %popcnt = "stablehlo.popcnt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.real"(
  %real = "stablehlo.real"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.round_nearest_afz"(
  %round_nearest_afz = "stablehlo.round_nearest_afz"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.round_nearest_even"(
  %round_nearest_even = "stablehlo.round_nearest_even"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.rsqrt"(
  %rsqrt = "stablehlo.rsqrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.sign"(
  %sign = "stablehlo.sign"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.sine"(
  %sine = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.sqrt"(
  %sqrt = "stablehlo.sqrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.tan"(
  %tan = "stablehlo.tan"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.tanh"(
  %tanh = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.uniform_dequantize"(
  %uniform_dequantize = "stablehlo.uniform_dequantize"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.uniform_quantize"(
  %uniform_quantize = "stablehlo.uniform_quantize"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.bitcast_convert"(
  %bitcast_convert = "stablehlo.bitcast_convert"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.reshape"(
  %reshape = "stablehlo.reshape"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.add"(
  %add = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.and"(
  %and = "stablehlo.and"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.atan2"(
  %atan2 = "stablehlo.atan2"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.complex"(
  %complex = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.divide"(
  %divide = "stablehlo.divide"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.maximum"(
  %maximum = "stablehlo.maximum"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.minimum"(
  %minimum = "stablehlo.minimum"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.multiply"(
  %multiply = "stablehlo.multiply"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.or"(
  %or = "stablehlo.or"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.power"(
  %power = "stablehlo.power"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.remainder"(
  %remainder = "stablehlo.remainder"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.shift_left"(
  %shift_left = "stablehlo.shift_left"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.shift_right_arithmetic"(
  %shift_right_arithmetic = "stablehlo.shift_right_arithmetic"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.shift_right_logical"(
  %shift_right_logical = "stablehlo.shift_right_logical"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.subtract"(
  %subtract = "stablehlo.subtract"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.xor"(
  %xor = "stablehlo.xor"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.dynamic_reshape"(
  %dynamic_reshape = "stablehlo.dynamic_reshape"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.reduce_precision"({{.*}}<{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}>
  %reduce_precision = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.compare"(
  %compare = "stablehlo.compare"(%x, %x) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: "stablehlo.select"(
  %select = "stablehlo.select"(%p, %x, %x) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.clamp"(
  %clamp = "stablehlo.clamp"(%x, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.constant"({{.*}}<{value = dense<1.000000e+00> : tensor<4xf32>}>
  %constant = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
  // CHECK: "stablehlo.iota"({{.*}}<{iota_dimension = 0 : i64}>
  %iota = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xf32>
  // CHECK: "stablehlo.broadcast"({{.*}}<{broadcast_sizes = array<i64: 2>}>
  %broadcast = "stablehlo.broadcast"(%x) <{broadcast_sizes = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: "stablehlo.broadcast_in_dim"({{.*}}<{broadcast_dimensions = array<i64: 1>}>
  %broadcast_in_dim = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: "stablehlo.concatenate"({{.*}}<{dimension = 0 : i64}>
  %concatenate = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK: "stablehlo.pad"(
  %pad = "stablehlo.pad"(%x, %s) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  // CHECK: "stablehlo.reverse"({{.*}}<{dimensions = array<i64: 0>}>
  %reverse = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.slice"({{.*}}<{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 2>}>
  %slice = "stablehlo.slice"(%x) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.transpose"({{.*}}<{permutation = array<i64: 1, 0>}>
  %transpose = "stablehlo.transpose"(%m) <{permutation = array<i64: 1, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.dynamic_slice"({{.*}}<{slice_sizes = array<i64: 2>}>
  %dynamic_slice = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  // CHECK: "stablehlo.dynamic_update_slice"(
  %dynamic_update_slice = "stablehlo.dynamic_update_slice"(%x, %x, %i) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  // CHECK: "stablehlo.get_dimension_size"({{.*}}<{dimension = 0 : i64}>
  %get_dimension_size = "stablehlo.get_dimension_size"(%x) <{dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<i32>
  // CHECK: "stablehlo.set_dimension_size"({{.*}}<{dimension = 0 : i64}>
  %set_dimension_size = "stablehlo.set_dimension_size"(%x, %i) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  // CHECK: "stablehlo.dynamic_broadcast_in_dim"(
  %dynamic_broadcast_in_dim = "stablehlo.dynamic_broadcast_in_dim"(%x, %v) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: "stablehlo.dynamic_iota"({{.*}}<{iota_dimension = 0 : i64}>
  %dynamic_iota = "stablehlo.dynamic_iota"(%v) <{iota_dimension = 0 : i64}> : (tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: "stablehlo.dynamic_pad"(
  %dynamic_pad = "stablehlo.dynamic_pad"(%x, %s, %one, %one, %one) : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK: "stablehlo.real_dynamic_slice"(
  %real_dynamic_slice = "stablehlo.real_dynamic_slice"(%x, %one, %one, %one) : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK: "stablehlo.reduce"({{.*}}<{dimensions = array<i64: 0>}>
  %reduce = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: "stablehlo.map"({{.*}}<{dimensions = array<i64: 0>}>
  %map = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.reduce_window"(
  %reduce_window = "stablehlo.reduce_window"(%x, %s) <{base_dilations = array<i64: 1>, padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: "stablehlo.select_and_scatter"(
  %select_and_scatter = "stablehlo.select_and_scatter"(%x, %x, %s) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: "stablehlo.sort"({{.*}}<{dimension = 0 : i64, is_stable = true}>
  %sort = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.gather"(
  %gather = "stablehlo.gather"(%m, %v1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<2x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.dynamic_gather"(
  %dynamic_gather = "stablehlo.dynamic_gather"(%m, %v1, %v) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>}> : (tensor<2x2xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2xf32>
  // CHECK: "stablehlo.scatter"(
  %scatter = "stablehlo.scatter"(%m, %v1, %m) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x2xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.torch_index_select"({{.*}}<{batch_dims = 0 : i64, dim = 0 : i64}>
  %torch_index_select = "stablehlo.torch_index_select"(%m, %v) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.dot"({{.*}}<{precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}>
  %dot = "stablehlo.dot"(%m, %m) <{precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.dot_general"(
  %dot_general = "stablehlo.dot_general"(%m, %m) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.convolution"(
  %convolution = "stablehlo.convolution"(%m, %m) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[o, i]->[b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64>, window_reversal = array<i1>, window_strides = array<i64>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.dynamic_conv"(
  %dynamic_conv = "stablehlo.dynamic_conv"(%m, %m, %pads) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[o, i]->[b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64>, window_reversal = array<i1>, window_strides = array<i64>}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<0x2xi32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.einsum"({{.*}}<{einsum_config = "ab,bc->ac"}>
  %einsum = "stablehlo.einsum"(%m, %m) <{einsum_config = "ab,bc->ac"}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.unary_einsum"({{.*}}<{einsum_config = "ab->a"}>
  %unary_einsum = "stablehlo.unary_einsum"(%m) <{einsum_config = "ab->a"}> : (tensor<2x2xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.cholesky"({{.*}}<{lower = true}>
  %cholesky = "stablehlo.cholesky"(%m) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.triangular_solve"(
  %triangular_solve = "stablehlo.triangular_solve"(%m, %m) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.fft"({{.*}}<{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}>
  %fft = "stablehlo.fft"(%x) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  // CHECK: "stablehlo.batch_norm_grad"({{.*}}<{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
  %batch_norm_grad:3 = "stablehlo.batch_norm_grad"(%m, %w, %w, %w, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: "stablehlo.batch_norm_inference"({{.*}}<{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
  %batch_norm_inference = "stablehlo.batch_norm_inference"(%m, %w, %w, %w, %w) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.batch_norm_training"({{.*}}<{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}>
  %batch_norm_training:3 = "stablehlo.batch_norm_training"(%m, %w, %w) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: "stablehlo.rng"({{.*}}<{rng_distribution = #stablehlo<rng_distribution NORMAL>}>
  %rng = "stablehlo.rng"(%s, %s, %v) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<2x2xf32>
  // CHECK: "stablehlo.rng_bit_generator"({{.*}}<{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
  %rng_bit_generator:2 = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  // CHECK: "stablehlo.case"(
  %case = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  // CHECK: "stablehlo.if"(
  %if = "stablehlo.if"(%q) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  // CHECK: "stablehlo.while"(
  %while = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    "stablehlo.return"(%q) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<i32>):
    "stablehlo.return"(%a) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  // CHECK: "stablehlo.composite"({{.*}}<{composite_attributes = {k = 1 : i64}, decomposition = @main, name = "test.f", version = 1 : i32}>
  %composite = "stablehlo.composite"(%x) <{composite_attributes = {k = 1 : i64}, decomposition = @main, name = "test.f", version = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.custom_call"(
  %custom_call = "stablehlo.custom_call"(%x) <{api_version = 4 : i32, backend_config = {uplo = 76 : ui8}, call_target_name = "f", called_computations = [@main], has_side_effect = false, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.optimization_barrier"(
  %optimization_barrier:2 = "stablehlo.optimization_barrier"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: "stablehlo.tuple"(
  %tuple = "stablehlo.tuple"(%x, %i) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
  // CHECK: "stablehlo.get_tuple_element"({{.*}}<{index = 0 : i32}>
  %get_tuple_element = "stablehlo.get_tuple_element"(%tup) <{index = 0 : i32}> : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  // CHECK: "stablehlo.create_token"(
  %create_token = "stablehlo.create_token"() : () -> !stablehlo.token
  // CHECK: "stablehlo.after_all"(
  %after_all = "stablehlo.after_all"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.infeed"(
  %infeed:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  // CHECK: "stablehlo.outfeed"({{.*}}<{outfeed_config = ""}>
  %outfeed = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.send"(
  %send = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.recv"({{.*}}<{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}>
  %recv:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  // CHECK: "stablehlo.replica_id"(
  %replica_id = "stablehlo.replica_id"() : () -> tensor<ui32>
  // CHECK: "stablehlo.partition_id"(
  %partition_id = "stablehlo.partition_id"() : () -> tensor<ui32>
  // CHECK: "stablehlo.all_gather"(
  %all_gather = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  // CHECK: "stablehlo.all_reduce"(
  %all_reduce = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.all_to_all"(
  %all_to_all = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.collective_broadcast"(
  %collective_broadcast = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.collective_permute"(
  %collective_permute = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.collective_reduce"(
  %collective_reduce = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.cross-replica-sum"(
  %cross_replica_sum = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "stablehlo.reduce_scatter"(
  %reduce_scatter = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.async_start"(
  %async_start = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  // CHECK: "stablehlo.async_done"(
  %async_done = "stablehlo.async_done"(%fut) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return
}

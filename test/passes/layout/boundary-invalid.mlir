// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1 costs=assumed' --split-input-file --verify-diagnostics

// expected-error @+1 {{`dlc.layout` of argument 0: required: a layout without padding, of a static tensor on a CPU device; found "aBcd16b" for 'tensor<4x20x16x16xf32, #dlc.on<cpu>>'; remove it if the elements are in row-major order}}
func.func @padded(%x: tensor<4x20x16x16xf32> {dlc.layout = "aBcd16b"}) -> tensor<4x20x16x16xf32> {
  return %x : tensor<4x20x16x16xf32>
}

// -----

// expected-error @+1 {{required: a layout without padding}}
func.func @rank(%x: tensor<4x32xf32> {dlc.layout = "acdb"}) -> tensor<4x32xf32> {
  return %x : tensor<4x32xf32>
}

// -----

#batch = #size.symbol<"batch", "1..64">
// expected-error @+1 {{required: a layout without padding, of a static tensor on a CPU device; found "aBcd16b" for 'tensor<?x16x4x4xf32}}
func.func @symbol(%x: tensor<?x16x4x4xf32, #size.dims<[#batch]>> {dlc.layout = "aBcd16b"}) -> tensor<?x16x4x4xf32, #size.dims<[#batch]>> {
  return %x : tensor<?x16x4x4xf32, #size.dims<[#batch]>>
}

// RUN: dlc-opt %s --dlc-verify-layout --split-input-file -verify-diagnostics

func.func @reshape(%x: tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<16x16xf32, #dlc.on<cpu>> {
  // expected-error @+1 {{supports only plain layouts; insert a dlc.reorder before the operation}}
  %0 = dlc.reshape %x : (tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<16x16xf32, #dlc.on<cpu>>
  return %0 : tensor<16x16xf32, #dlc.on<cpu>>
}

// -----

func.func @mixed(%x: tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>, %y: tensor<1x16x4x4xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu>> {
  // expected-error @+1 {{operands of the result's shape must have its layout, and smaller operands must be plain: the result's is '', one operand's 'aBcd16b'}}
  %0 = dlc.add %x, %y : (tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>, tensor<1x16x4x4xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu>>
  return %0 : tensor<1x16x4x4xf32, #dlc.on<cpu>>
}

// -----

// Only marked results may have a layout, and none with padding.
func.func @free(%x: tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> (tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>> {dlc.layout = "any"}) {
  return %x : tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>
}

// -----

func.func @padded(%x: tensor<1x20x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> (tensor<1x20x4x4xf32, #dlc.on<cpu, aBcd16b>> {dlc.layout = "any"}) {
  // expected-error @+1 {{supports only plain layouts}}
  return %x : tensor<1x20x4x4xf32, #dlc.on<cpu, aBcd16b>>
}

// -----

func.func @returned(%x: tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>> {
  // expected-error @+1 {{supports only plain layouts}}
  return %x : tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>
}

// -----

// Opaque layouts of packed weights are only allowed for reorders and library calls.
func.func @weights(%x: tensor<64x64x3x3xbf16, #dlc.on<cpu>>) -> tensor<64x64x3x3xbf16, #dlc.on<cpu>> {
  %0 = dlc.reorder %x : (tensor<64x64x3x3xbf16, #dlc.on<cpu>>) -> tensor<64x64x3x3xbf16, #dlc.on<cpu, ABcd4b16a4b>>
  // expected-error @+1 {{supports layouts with at most one blocked dimension; found 'ABcd4b16a4b'; insert a dlc.reorder before the operation}}
  %1 = dlc.relu %0 : (tensor<64x64x3x3xbf16, #dlc.on<cpu, ABcd4b16a4b>>) -> tensor<64x64x3x3xbf16, #dlc.on<cpu, ABcd4b16a4b>>
  %2 = dlc.reorder %1 : (tensor<64x64x3x3xbf16, #dlc.on<cpu, ABcd4b16a4b>>) -> tensor<64x64x3x3xbf16, #dlc.on<cpu>>
  return %2 : tensor<64x64x3x3xbf16, #dlc.on<cpu>>
}

// -----

// A gather along a dimension without blocks keeps the layout; a gather of blocked channels does not.
func.func @places(%x: tensor<1x32x4x4xf32, #dlc.on<cpu>>, %p: tensor<8xi64, #dlc.on<cpu>>) -> tensor<1x32x4x8xf32, #dlc.on<cpu>> {
  %b = dlc.reorder %x : (tensor<1x32x4x4xf32, #dlc.on<cpu>>) -> tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>
  %0 = dlc.gather 3 %b, %p : (tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>, tensor<8xi64, #dlc.on<cpu>>) -> tensor<1x32x4x8xf32, #dlc.on<cpu, aBcd16b>>
  // expected-error @+1 {{supports only plain layouts; insert a dlc.reorder before the operation}}
  %1 = dlc.gather 1 %b, %p : (tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>, tensor<8xi64, #dlc.on<cpu>>) -> tensor<1x8x4x4xf32, #dlc.on<cpu, aBcd16b>>
  %2 = dlc.reorder %0 : (tensor<1x32x4x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x32x4x8xf32, #dlc.on<cpu>>
  return %2 : tensor<1x32x4x8xf32, #dlc.on<cpu>>
}

// -----

// A slice of whole blocks keeps the layout; a slice of a part of a block does not.
func.func @slices(%x: tensor<1x32x4x4xf32, #dlc.on<cpu>>) -> tensor<1x8x4x4xf32, #dlc.on<cpu>> {
  %b = dlc.reorder %x : (tensor<1x32x4x4xf32, #dlc.on<cpu>>) -> tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>
  %0 = dlc.slice %b start [0, 16, 1, 0] size [1, 16, 2, 4] stride [1, 1, 1, 1] : (tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x2x4xf32, #dlc.on<cpu, aBcd16b>>
  %l = dlc.reorder %x : (tensor<1x32x4x4xf32, #dlc.on<cpu>>) -> tensor<1x32x4x4xf32, #dlc.on<cpu, acdb>>
  %1 = dlc.slice %l start [0, 3, 0, 0] size [1, 8, 4, 4] stride [1, 1, 1, 1] : (tensor<1x32x4x4xf32, #dlc.on<cpu, acdb>>) -> tensor<1x8x4x4xf32, #dlc.on<cpu, acdb>>
  // expected-error @+1 {{supports only plain layouts; insert a dlc.reorder before the operation}}
  %2 = dlc.slice %b start [0, 8, 0, 0] size [1, 16, 4, 4] stride [1, 1, 1, 1] : (tensor<1x32x4x4xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, aBcd16b>>
  %3 = dlc.reorder %1 : (tensor<1x8x4x4xf32, #dlc.on<cpu, acdb>>) -> tensor<1x8x4x4xf32, #dlc.on<cpu>>
  return %3 : tensor<1x8x4x4xf32, #dlc.on<cpu>>
}

// -----

func.func @views(%x: tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu>> {
  %0 = dlc.transposed_view %x [0, 3, 1, 2] : (tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>
  // expected-error @+1 {{a view must not move elements; found 'tensor<1x4x4x16xf32, #dlc.on<cpu>>' to 'tensor<1x16x4x4xf32, #dlc.on<cpu>>'; transpose with dlc.transpose and insert a dlc.reorder after it}}
  %1 = dlc.transposed_view %x [0, 3, 1, 2] : (tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu>>
  return %1 : tensor<1x16x4x4xf32, #dlc.on<cpu>>
}

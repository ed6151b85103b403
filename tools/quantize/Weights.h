//===- Weights.h - weights as integers ------------------------------------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_WEIGHTS_H
#define DLC_TOOLS_QUANTIZE_WEIGHTS_H

#include "tools/quantize/Layers.h"

namespace dlc::quantize {

/// Weights of a layer and their scales, as initializers without a name.
struct Integers {
  onnx::TensorProto values, scales;
  /// One for each channel where there are no blocks; the same as `scales`.
  std::vector<float> perChannel;
};

/// In [-127, 127], a scale for each channel. `bias` (may be null) must fit 32 bits in units of
/// the weights' scale times `xScale`.
Integers perChannel(const Layer &layer, const onnx::TensorProto &weights,
                    const onnx::TensorProto *bias, float xScale);

/// Of a product, in [-7, 7], a scale for each `block` weights that are summed: INT4, two in a byte,
/// as DequantizeLinear has them.
Integers inBlocks(const Layer &layer, const onnx::TensorProto &weights, int64_t block);

/// The same as com.microsoft's MatMulNBits has them: [columns, blocks, bytes], with 8 for zero.
Integers inBlocksTurned(const Layer &layer, const onnx::TensorProto &weights, int64_t block);

/// The bias in units of the weights' scales times `xScale`: INT32, and those scales.
Integers biasOf(const onnx::TensorProto &bias, const Integers &weights, float xScale);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_WEIGHTS_H

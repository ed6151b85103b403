//===- Weights.h - quantizes weights to integers --------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_WEIGHTS_H
#define DLC_TOOLS_QUANTIZE_WEIGHTS_H

#include "tools/quantize/Layers.h"

namespace dlc::quantize {

/// Quantized weights of a layer and their scales, as unnamed initializers.
struct Integers {
  onnx::TensorProto values, scales;
  /// The elements of `scales` if there is one scale per channel; empty for blocks.
  std::vector<float> perChannel;
};

/// Quantizes to [-127, 127] with one scale per channel. The scales are chosen so that `bias` (may
/// be null) fits in 32 bits in units of the weight scale times `xScale`.
Integers perChannel(const Layer &layer, const onnx::TensorProto &weights,
                    const onnx::TensorProto *bias, float xScale);

/// Quantizes the weights of a matmul to [-7, 7] with one scale for each `block` weights along the
/// reduction axis. The result is INT4, two elements per byte, as DequantizeLinear requires.
Integers inBlocks(const Layer &layer, const onnx::TensorProto &weights, int64_t block);

/// Like inBlocks(), but in the layout of com.microsoft.MatMulNBits: [columns, blocks, bytes], with
/// a zero point of 8.
Integers inBlocksTransposed(const Layer &layer, const onnx::TensorProto &weights, int64_t block);

/// Quantizes the bias to INT32 with scales equal to the weight scales times `xScale`, and returns
/// these scales.
Integers biasOf(const onnx::TensorProto &bias, const Integers &weights, float xScale);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_WEIGHTS_H

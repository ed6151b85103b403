//===- Weights.h - quantizes weights to integers --------------------------===//
#ifndef DLC_TOOLS_QUANTIZE_WEIGHTS_H
#define DLC_TOOLS_QUANTIZE_WEIGHTS_H

#include "tools/quantize/Layers.h"

namespace dlc::quantize {

/// Quantized weights or bias of a layer and the scales, as unnamed initializers.
struct QuantizedTensor {
  onnx::TensorProto values, scales;
  /// Elements of `scales` if there is one scale per channel; empty if there is one scale per block.
  std::vector<float> perChannel;
};

/// Quantizes weights to 8-bit integers in [-127, 127] with one scale per channel. The scales are
/// large enough for `bias` (may be null) to fit in 32 bits in units of the weight scale times
/// `xScale`.
QuantizedTensor perChannel(const QuantizableLayer &layer, const onnx::TensorProto &weights,
                           const onnx::TensorProto *bias, float xScale);

/// Quantizes the weights of a matmul to 4-bit integers in [-7, 7], with one scale for each `block`
/// weights along the reduction (K) dimension. The result has type INT4, two elements per byte, as
/// DequantizeLinear requires.
QuantizedTensor quantizeInBlocks(const QuantizableLayer &layer, const onnx::TensorProto &weights,
                                 int64_t block);

/// Quantizes the weights of a matmul to 4-bit integers in blocks, in the layout of
/// com.microsoft.MatMulNBits: [columns, blocks, bytes], with a zero point of 8.
QuantizedTensor quantizeInBlocksTransposed(const QuantizableLayer &layer,
                                           const onnx::TensorProto &weights, int64_t block);

/// Quantizes the bias to INT32 with scales equal to the weight scales times `xScale`, and returns
/// these scales.
QuantizedTensor quantizeBias(const onnx::TensorProto &bias, const QuantizedTensor &weights,
                             float xScale);

} // namespace dlc::quantize

#endif // DLC_TOOLS_QUANTIZE_WEIGHTS_H

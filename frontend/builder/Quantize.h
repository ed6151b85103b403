//===- Quantize.h - quantization parameters and dequantization ------------===//
#ifndef DLC_FRONTEND_BUILDER_QUANTIZE_H
#define DLC_FRONTEND_BUILDER_QUANTIZE_H

#include "frontend/builder/Build.h"

namespace dlc::frontend {

/// Quantization parameters from a node's inputs: scale and zero point. The zero point may be null.
struct QuantizationParams {
  Value scale, zeroPoint;
};

/// Block quantization of a tensor: the axis that is divided into blocks, and the block size. A size
/// of 0 means that the tensor is not quantized in blocks.
struct BlockQuantization {
  int64_t axis = 0, size = 0;
};

/// Reshapes a scale or zero point v so that it broadcasts to x: to x's rank, or to rank 0 if v has
/// one element. v may also have one element per index of the axis, or one per block along the axis.
Value broadcastAlongAxis(Build &b, Value v, Value x, BlockQuantization blocks);

/// Returns the attributes of dlc.quantize and dlc.dequantize for block quantization of x.
llvm::SmallVector<mlir::NamedAttribute> blockAttributes(Build &b, Value x, Value scale,
                                                        BlockQuantization blocks);

/// Casts x to i32 and subtracts the zero point.
Value subtractZeroPoint(Build &b, Value x, Value zeroPoint);

/// Dequantizes x: computes (x - zero point) * scale in the scale's type. Scale and zero point have
/// rank 0 or x's rank.
Value buildDequantize(Build &b, Value x, const QuantizationParams &q,
                      BlockQuantization blocks = {});

/// Returns the elements of a constant of any size; nothing if v is null or not a constant.
std::optional<ref::Tensor> getConstantElements(Value v);

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_QUANTIZE_H

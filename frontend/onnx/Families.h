//===- Families.h - functions that operator families share ----------------===//
#ifndef DLC_FRONTEND_ONNX_FAMILIES_H
#define DLC_FRONTEND_ONNX_FAMILIES_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

//===--- Activation -----------------------------------------------------------===//
Value buildLeakyRelu(Build &b, Value x, double alpha);
Value buildElu(Build &b, Value x, double alpha);
/// Hard sigmoid: computes alpha x + beta, clamped to [0, 1].
Value buildHardSigmoid(Build &b, Value x, double alpha, double beta);
Value buildHardSwish(Build &b, Value x);
/// Softplus: computes log(1 + e^x) without overflow.
Value buildSoftplus(Build &b, Value x);
Value buildSoftsign(Build &b, Value x);

//===--- Contract -------------------------------------------------------------===//
/// Matrix product by the rules of numpy.matmul: a vector operand is treated as a matrix of one row
/// (or column), and that dimension is removed from the result.
Value buildNumpyMatmul(Build &b, Value a, Value c);
/// Matrix product by the rules of numpy.matmul, where `product` builds the matmul of two matrices,
/// such as a quantized matmul.
Value buildNumpyMatmul(Build &b, Value a, Value c, llvm::function_ref<Value(Value, Value)> product);
/// Computes alpha A B + beta C with the inputs and attributes of ONNX Gemm.
Value buildGemm(Node &n, Build &b);

//===--- Conv -----------------------------------------------------------------===//
/// Builds a convolution with the attributes of ONNX Conv. The bias and the zero points of quantized
/// operands may be null.
Value convolve(Node &n, Build &b, Value x, Value w, Value bias, Value xZero = {}, Value wZero = {});
/// Builds activation(conv(x, w) + B + Z) with the attributes of FusedConv. Reads the optional bias
/// B and addend Z from inputs 2 and 3 of the node.
Value buildFusedConv(Node &n, Build &b, Value x, Value w);

//===--- Pool -----------------------------------------------------------------===//
/// Builds an average pool of x with the window attributes of ONNX AveragePool.
Value buildAveragePool(Node &n, Build &b, Value x);

//===--- Shape ----------------------------------------------------------------===//
/// Transposes x [N, C, spatial..] to [N, spatial.., C].
Value moveChannelsLast(Build &b, Value x);
/// Transposes x [N, spatial.., C] to [N, C, spatial..].
Value moveChannelsFirst(Build &b, Value x);

/// Returns the range [first, last) of dimensions that the operator Shape returns for a tensor of
/// rank `rank` (attributes `start` and `end`).
std::pair<int64_t, int64_t> readShapeRange(Node &n, int64_t rank);
/// Returns the permutation that the attribute `perm` of Transpose specifies; by default all
/// dimensions are reversed.
Dims readPermutation(Node &n, int64_t rank);

//===--- Reduce ---------------------------------------------------------------===//
struct ReductionOptions {
  Dims axes;
  bool keepdims = true;
  /// Whether the result is the input unchanged, because no axes were given and
  /// `noop_with_empty_axes` is set.
  bool identity = false;
};
/// Reads the axes and attributes (`keepdims`, `noop_with_empty_axes`) of ReduceSum and similar
/// operators.
ReductionOptions readReduction(Node &n, Build &b);

//===--- Gather ---------------------------------------------------------------===//
/// Gathers slices of x along one axis. Reports an error for constant indices that are out of range.
Value gatherAlong(Build &b, Value x, Value indices, int64_t axis);

//===--- Norm -----------------------------------------------------------------===//
/// Layer norm: normalizes x over the dimensions from `axis` on. Scale and bias may be null.
Value layerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);
Value groupNorm(Build &b, Value x, Value scale, Value bias, int64_t groups, double eps);
Value rmsNorm(Build &b, Value x, Value scale, int64_t axis, double eps);

//===--- Attention ------------------------------------------------------------===//
/// Reshapes [B, T, heads * D] to [B, heads, T, D].
Value splitHeads(Build &b, Value x, int64_t heads);
Value joinHeads(Build &b, Value x);
/// Repeats each head of x [B, heads, ..] `times` times, as in grouped-query attention. The copies
/// of a head are adjacent.
Value repeatHeads(Build &b, Value x, int64_t times);
/// Rotary embedding: rotates the first 2 * half elements of each row of x [B, heads, T, D] by
/// angles whose cosines and sines are [B or 1, T, half].
Value applyRotaryEmbedding(Build &b, Value x, Value cosines, Value sines, bool interleaved);

//===--- Quantize -------------------------------------------------------------===//
/// Quantization parameters from a node's inputs: scale and zero point. The zero point may be null.
struct QuantizationParams {
  Value scale, zeroPoint;
};
/// Reads the quantization parameters of a tensor of the given element type from the node's inputs
/// number `scale` and `zeroPoint`. If `perChannel` is 1, they are scalars. Otherwise they may also
/// be vectors of `perChannel` elements.
QuantizationParams readQuantization(Node &n, Build &b, int64_t scale, int64_t zeroPoint,
                                    Type element, int64_t perChannel = 1);
/// Block quantization of a tensor: the axis that is divided into blocks, and the block size. A size
/// of 0 means that the tensor is not quantized in blocks.
struct BlockQuantization {
  int64_t axis = 0, size = 0;
};
/// Returns the attributes of dlc.quantize and dlc.dequantize for block quantization of x.
llvm::SmallVector<mlir::NamedAttribute> blockAttributes(Build &b, Value x, Value scale,
                                                        BlockQuantization blocks);
/// Reshapes a scale or zero point v so that it broadcasts to x: to x's rank, or to rank 0 if v has
/// one element. v may also have one element per index of the axis, or one per block along the axis.
Value broadcastAlongAxis(Build &b, Value v, Value x, BlockQuantization blocks);
/// Casts x to i32 and subtracts the zero point.
Value subtractZeroPoint(Build &b, Value x, Value zeroPoint);
/// Dequantizes x: computes (x - zero point) * scale in the scale's type. Scale and zero point have
/// rank 0 or x's rank.
Value buildDequantize(Build &b, Value x, const QuantizationParams &q,
                      BlockQuantization blocks = {});
/// Multiplies quantized matrices by the rules of numpy.matmul and returns the i32 accumulators.
/// Zero points may be null. A zero point of rank 1 has one element for each row of a or each column
/// of c.
Value buildIntegerMatmul(Build &b, Value a, Value aZero, Value c, Value cZero);
/// Convolves quantized operands with the attributes of ONNX Conv and returns the i32 accumulators.
/// The zero points and the bias may be null. The zero point of x has one element.
Value buildIntegerConv(Node &n, Build &b, Value x, Value xZero, Value w, Value wZero, Value bias);
/// Returns the elements of a constant of any size; nothing if v is null or not a constant.
std::optional<ref::Tensor> getConstantElements(Value v);
/// Rounds f32 values to an 8-bit or 4-bit float type, to nearest even. Values above the type's
/// maximum become the maximum if `saturates` is set; otherwise they become infinity or NaN,
/// depending on the type. Negative values are rounded symmetrically.
Value roundToSmallFloat(Build &b, Value x, const llvm::fltSemantics &kind, bool saturates);
/// Converts values that are already divided by the scale: rounds to nearest even, adds the zero
/// point, and saturates to the element type.
Value roundAndAddZeroPoint(Build &b, Value scaled, Value zeroPoint, Type element);
/// Quantizes x: computes x / scale, rounds to nearest even, adds the zero point, and saturates to
/// the element type.
Value buildQuantize(Build &b, Value x, const QuantizationParams &q, Type element,
                    BlockQuantization blocks = {});
/// Dynamic quantization: values quantized to u8 with a scale and zero point computed at run time
/// from their range, which always includes 0.
struct DynamicQuantizeResult {
  Value values;
  QuantizationParams by;
};
DynamicQuantizeResult quantizeDynamically(Build &b, Value x);
/// Multiplies two quantized matrices and returns f32: the exact integer sums times both scales. c
/// may have one scale and zero point per column.
Value buildQuantizedMatmul(Build &b, Value a, const QuantizationParams &aq, Value c,
                           const QuantizationParams &cq);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_FAMILIES_H

//===- Families.h - functions that operator families share ----------------===//
#ifndef DLC_FRONTEND_ONNX_FAMILIES_H
#define DLC_FRONTEND_ONNX_FAMILIES_H

#include "frontend/builder/Layers.h"
#include "frontend/builder/Quantize.h"
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

//===--- Quantize -------------------------------------------------------------===//
/// Reads the quantization parameters of a tensor of the given element type from the node's inputs
/// number `scale` and `zeroPoint`. If `perChannel` is 1, they are scalars. Otherwise they may also
/// be vectors of `perChannel` elements.
QuantizationParams readQuantization(Node &n, Build &b, int64_t scale, int64_t zeroPoint,
                                    Type element, int64_t perChannel = 1);
/// Multiplies quantized matrices by the rules of numpy.matmul and returns the i32 accumulators.
/// Zero points may be null. A zero point of rank 1 has one element for each row of a or each column
/// of c.
Value buildIntegerMatmul(Build &b, Value a, Value aZero, Value c, Value cZero);
/// Convolves quantized operands with the attributes of ONNX Conv and returns the i32 accumulators.
/// The zero points and the bias may be null. The zero point of x has one element.
Value buildIntegerConv(Node &n, Build &b, Value x, Value xZero, Value w, Value wZero, Value bias);
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

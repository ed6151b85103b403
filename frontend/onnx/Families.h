//===- Families.h - what one operator family offers to the others ---------===//
#ifndef DLC_FRONTEND_ONNX_FAMILIES_H
#define DLC_FRONTEND_ONNX_FAMILIES_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

//===--- Activation -----------------------------------------------------------===//
Value leakyReluOf(Build &b, Value x, double alpha);
Value eluOf(Build &b, Value x, double alpha);
/// alpha x + beta, between 0 and 1.
Value hardSigmoidOf(Build &b, Value x, double alpha, double beta);
Value hardSwishOf(Build &b, Value x);
/// log(1 + e^x) without overflow.
Value softplusOf(Build &b, Value x);
Value softsignOf(Build &b, Value x);

//===--- Contract -------------------------------------------------------------===//
/// NumPy's rule: a vector becomes a matrix of one row (or column), which goes away again.
Value matmulNumpy(Build &b, Value a, Value c);
/// The same with another product of matrices, as of quantized ones.
Value matmulNumpy(Build &b, Value a, Value c, llvm::function_ref<Value(Value, Value)> product);
/// alpha A B + beta C with the attributes of Gemm.
Value gemmOf(Node &n, Build &b);

//===--- Conv -----------------------------------------------------------------===//
/// With the attributes of Conv. The bias and the zero points of quantized operands may be null.
Value convolve(Node &n, Build &b, Value x, Value w, Value bias, Value xZero = {}, Value wZero = {});
/// With the attributes of FusedConv, and its inputs behind x and w.
Value fusedConvOf(Node &n, Build &b, Value x, Value w);

//===--- Pool -----------------------------------------------------------------===//
/// With the attributes of AveragePool.
Value averagePoolOf(Node &n, Build &b, Value x);

//===--- Shape ----------------------------------------------------------------===//
/// x [N, C, spatial..] as [N, spatial.., C].
Value channelsLast(Build &b, Value x);
/// And back.
Value channelsFirst(Build &b, Value x);

/// The dimensions that Shape gives of a tensor of so many: from the first number up to the second.
std::pair<int64_t, int64_t> shapeRange(Node &n, int64_t rank);
/// With the attributes of Transpose.
Dims permutationOf(Node &n, int64_t rank);

//===--- Reduce ---------------------------------------------------------------===//
struct Reduction {
  Dims axes;
  bool keepdims = true;
  /// No axes, and asked to do nothing then.
  bool identity = false;
};
/// With the axes of ReduceSum and its like.
Reduction reductionOf(Node &n, Build &b);

//===--- Gather ---------------------------------------------------------------===//
/// Gathers along one axis; constant indices must be in range.
Value gatherAlong(Build &b, Value x, Value indices, int64_t axis);

//===--- Norm -----------------------------------------------------------------===//
/// Scale and bias may be null.
Value layerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);
Value groupNorm(Build &b, Value x, Value scale, Value bias, int64_t groups, double eps);
Value rmsNorm(Build &b, Value x, Value scale, int64_t axis, double eps);

//===--- Attention ------------------------------------------------------------===//
/// [B, T, heads * D] as [B, heads, T, D].
Value splitHeads(Build &b, Value x, int64_t heads);
Value joinHeads(Build &b, Value x);
/// Each head of [B, heads, ..] `times` times, one after the other.
Value repeatHeads(Build &b, Value x, int64_t times);
/// Turns the first 2 * half elements of each row of x [B, heads, T, D] by angles whose cosines and
/// sines are [B or 1, T, half].
Value rotate(Build &b, Value x, Value cosines, Value sines, bool interleaved);

//===--- Quantize -------------------------------------------------------------===//
/// A scale and a zero point of a node's inputs; the zero point may be null.
struct Quantization {
  Value scale, zeroPoint;
};
/// Inputs `scale` and `zeroPoint` of a node, for a tensor of the given element type. What must be
/// one for all is made a scalar; else there may be `perChannel` of them, in one dimension.
Quantization quantizationOf(Node &n, Build &b, int64_t scale, int64_t zeroPoint, Type element,
                            int64_t perChannel = 1);
/// The axis along which a tensor is quantized in blocks, and their size; without blocks, the size
/// is 0.
struct Blocks {
  int64_t axis = 0, size = 0;
};
/// The attributes of dlc.quantize and dlc.dequantize for these blocks of x.
llvm::SmallVector<mlir::NamedAttribute> blockAttributes(Build &b, Value x, Value scale,
                                                        Blocks blocks);
/// A scale or zero point with x's rank, or rank 0: one for the tensor, one per index of the axis,
/// or one per block along the axis.
Value alongAxis(Build &b, Value v, Value x, Blocks blocks);
/// As i32, less the zero point.
Value centred(Build &b, Value x, Value zeroPoint);
/// (x - zero point) * scale in the scale's type. Scale and zero point have rank 0 or x's rank.
Value dequantized(Build &b, Value x, const Quantization &q, Blocks blocks = {});
/// The i32 sums of a matrix product of quantized operands, by NumPy's rule. Zero points may be
/// null; those of rank 1 have an element for each row of a, or for each column of c.
Value integerMatmul(Build &b, Value a, Value aZero, Value c, Value cZero);
/// The i32 sums of a convolution of quantized operands with the attributes of Conv. Zero points
/// and bias may be null; x's zero point has one element.
Value integerConvolve(Node &n, Build &b, Value x, Value xZero, Value w, Value wZero, Value bias);
/// The elements of a constant, of any size; nothing where the value is none, or null.
std::optional<ref::Tensor> storedElements(Value v);
/// f32 rounded to nearest even of small floats. What is larger than all of them becomes the largest
/// of its sign, or else infinite or no number, as these floats have it.
Value roundedTo(Build &b, Value x, const llvm::fltSemantics &kind, bool saturates);
/// Rounds to nearest even, adds the zero point, and saturates.
Value toQuantized(Build &b, Value scaled, Value zeroPoint, Type element);
/// x / scale, rounded to nearest even, plus the zero point, saturated.
Value quantized(Build &b, Value x, const Quantization &q, Type element, Blocks blocks = {});
/// What ranges of values at run time give: u8, with a range that holds 0.
struct DynamicallyQuantized {
  Value values;
  Quantization by;
};
DynamicallyQuantized quantizeDynamically(Build &b, Value x);
/// The product of two quantised matrices in f32: exact sums of integers, times both scales. c's
/// scales and zero points stand beside its columns.
Value quantizedProduct(Build &b, Value a, const Quantization &aq, Value c, const Quantization &cq);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_FAMILIES_H

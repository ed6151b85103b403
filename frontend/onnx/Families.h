//===- Families.h - functions that operator families share ----------------===//
#ifndef DLC_FRONTEND_ONNX_FAMILIES_H
#define DLC_FRONTEND_ONNX_FAMILIES_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

//===--- Activation -----------------------------------------------------------===//
Value leakyReluOf(Build &b, Value x, double alpha);
Value eluOf(Build &b, Value x, double alpha);
/// Computes alpha x + beta, clamped to [0, 1].
Value hardSigmoidOf(Build &b, Value x, double alpha, double beta);
Value hardSwishOf(Build &b, Value x);
/// Computes log(1 + e^x) without overflow.
Value softplusOf(Build &b, Value x);
Value softsignOf(Build &b, Value x);

//===--- Contract -------------------------------------------------------------===//
/// Multiplies matrices by NumPy's rule: a vector is treated as a matrix of one row (or column), and
/// that dimension is removed from the result.
Value matmulNumpy(Build &b, Value a, Value c);
/// Does the same with a given function for the product of two matrices, such as a quantized
/// product.
Value matmulNumpy(Build &b, Value a, Value c, llvm::function_ref<Value(Value, Value)> product);
/// Computes alpha A B + beta C with the attributes of Gemm.
Value gemmOf(Node &n, Build &b);

//===--- Conv -----------------------------------------------------------------===//
/// Builds a convolution with the attributes of Conv. The bias and the zero points of quantized
/// operands may be null.
Value convolve(Node &n, Build &b, Value x, Value w, Value bias, Value xZero = {}, Value wZero = {});
/// Builds a convolution with the attributes of FusedConv. Reads the bias and Z from inputs 2 and 3
/// of the node.
Value fusedConvOf(Node &n, Build &b, Value x, Value w);

//===--- Pool -----------------------------------------------------------------===//
/// Builds an average pool with the attributes of AveragePool.
Value averagePoolOf(Node &n, Build &b, Value x);

//===--- Shape ----------------------------------------------------------------===//
/// Transposes x [N, C, spatial..] to [N, spatial.., C].
Value channelsLast(Build &b, Value x);
/// Transposes x [N, spatial.., C] to [N, C, spatial..].
Value channelsFirst(Build &b, Value x);

/// Returns the range [first, last) of dimensions that Shape reads from a tensor of this rank
/// (attributes `start` and `end`).
std::pair<int64_t, int64_t> shapeRange(Node &n, int64_t rank);
/// Returns the permutation that the attributes of Transpose specify.
Dims permutationOf(Node &n, int64_t rank);

//===--- Reduce ---------------------------------------------------------------===//
struct Reduction {
  Dims axes;
  bool keepdims = true;
  /// No axes were given and `noop_with_empty_axes` is set: the result is the input.
  bool identity = false;
};
/// Reads the axes and attributes of ReduceSum and similar operators.
Reduction reductionOf(Node &n, Build &b);

//===--- Gather ---------------------------------------------------------------===//
/// Gathers along one axis. Reports constant indices that are out of range.
Value gatherAlong(Build &b, Value x, Value indices, int64_t axis);

//===--- Norm -----------------------------------------------------------------===//
/// Normalizes x. Scale and bias may be null.
Value layerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);
Value groupNorm(Build &b, Value x, Value scale, Value bias, int64_t groups, double eps);
Value rmsNorm(Build &b, Value x, Value scale, int64_t axis, double eps);

//===--- Attention ------------------------------------------------------------===//
/// Reshapes [B, T, heads * D] to [B, heads, T, D].
Value splitHeads(Build &b, Value x, int64_t heads);
Value joinHeads(Build &b, Value x);
/// Repeats each head of [B, heads, ..] `times` times; the copies of a head are adjacent.
Value repeatHeads(Build &b, Value x, int64_t times);
/// Rotary embedding: rotates the first 2 * half elements of each row of x [B, heads, T, D] by
/// angles whose cosines and sines are [B or 1, T, half].
Value rotate(Build &b, Value x, Value cosines, Value sines, bool interleaved);

//===--- Quantize -------------------------------------------------------------===//
/// Scale and zero point from a node's inputs. The zero point may be null.
struct Quantization {
  Value scale, zeroPoint;
};
/// Reads inputs `scale` and `zeroPoint` of a node for a tensor of the given element type. If
/// `perChannel` is 1, the result is scalars. Otherwise the inputs may also be vectors of
/// `perChannel` elements.
Quantization quantizationOf(Node &n, Build &b, int64_t scale, int64_t zeroPoint, Type element,
                            int64_t perChannel = 1);
/// Block quantization: the axis along which a tensor is quantized in blocks, and the block size.
/// The size is 0 if there are no blocks.
struct Blocks {
  int64_t axis = 0, size = 0;
};
/// Returns the attributes of dlc.quantize and dlc.dequantize for these blocks of x.
llvm::SmallVector<mlir::NamedAttribute> blockAttributes(Build &b, Value x, Value scale,
                                                        Blocks blocks);
/// Reshapes a scale or zero point to x's rank or to rank 0. It has one element for the tensor, one
/// per index of the axis, or one per block along the axis.
Value alongAxis(Build &b, Value v, Value x, Blocks blocks);
/// Returns x as i32, minus the zero point.
Value centred(Build &b, Value x, Value zeroPoint);
/// Computes (x - zero point) * scale in the scale's type. Scale and zero point have rank 0 or x's
/// rank.
Value dequantized(Build &b, Value x, const Quantization &q, Blocks blocks = {});
/// Multiplies quantized matrices by NumPy's rule and returns the i32 sums. Zero points may be null.
/// Zero points of rank 1 have one element for each row of a or each column of c.
Value integerMatmul(Build &b, Value a, Value aZero, Value c, Value cZero);
/// Convolves quantized operands with the attributes of Conv and returns the i32 sums. Zero points
/// and bias may be null. x's zero point has one element.
Value integerConvolve(Node &n, Build &b, Value x, Value xZero, Value w, Value wZero, Value bias);
/// Returns the elements of a constant of any size; nothing if the value is null or not a constant.
std::optional<ref::Tensor> storedElements(Value v);
/// Rounds f32 values to the nearest even value of a small float type. Values above the type's
/// maximum become the maximum if `saturates` is set; otherwise they become infinity or NaN,
/// depending on the type. Negative values are rounded symmetrically.
Value roundedTo(Build &b, Value x, const llvm::fltSemantics &kind, bool saturates);
/// Rounds to nearest even, adds the zero point, and saturates to the element type.
Value toQuantized(Build &b, Value scaled, Value zeroPoint, Type element);
/// Computes x / scale, rounds to nearest even, adds the zero point, and saturates.
Value quantized(Build &b, Value x, const Quantization &q, Type element, Blocks blocks = {});
/// Values quantized to u8 with a range computed at run time, which always includes 0.
struct DynamicallyQuantized {
  Value values;
  Quantization by;
};
DynamicallyQuantized quantizeDynamically(Build &b, Value x);
/// Multiplies two quantized matrices and returns f32: exact integer sums times both scales. c may
/// have one scale and zero point per column.
Value quantizedProduct(Build &b, Value a, const Quantization &aq, Value c, const Quantization &cq);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_FAMILIES_H

//===- QuantizedWeights.h - matmuls whose kernels read quantized weights --===//
//
//   %w = dlc.dequantize %q, %scale, %zero_point   -> [n, k] or [k, n], of constants
//   %y = dlc.matmul %x, %w {dlc.quantized_weights}
//
// The kernel of such a matmul reads %q. The attribute keeps the dequantization, which is otherwise
// expanded and evaluated, until a kernel is selected (codegen/select/candidates/WeightForm.h).
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_QUANTIZEDWEIGHTS_H
#define DLC_PASSES_QUANTIZEDWEIGHTS_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc {

/// Returns the dlc.dequantize that defines the weights of a matmul with kQuantizedWeightsAttr, or
/// null for other operations.
DequantizeOp getQuantizedWeights(mlir::Operation *op);
/// Returns the matmul inside a fusion that reads quantized weights, or null if there is none.
MatmulOp findQuantizedMatmul(FusionOp fusion);
/// Returns whether a matmul with kQuantizedWeightsAttr reads the value as its weights.
bool isQuantizedWeights(mlir::Value value);

/// Constant weights that are quantized in blocks along the reduction dimension k: element =
/// (integer - zero point of the block) * scale of the block. Integers of unsigned types, and their
/// zero points, are stored minus half of the type's range, so that they are signed.
class QuantizedWeights {
public:
  /// Function that returns the tensor of a value, or nullopt if the value is not a constant.
  using Reader = llvm::function_ref<std::optional<ref::Tensor>(mlir::Value)>;

  /// Reads the weights from the right operand of a matmul, which must be a dequantization to f32.
  /// Returns nullopt for blocks along n, block sizes that are not a multiple of 16, zero points
  /// that are not integers of the width of the quantized values, or operands that are not constant.
  static std::optional<QuantizedWeights> read(MatmulOp product, Reader reader);

  int64_t n = 0, k = 0;
  int64_t depth = 0;         ///< number of elements of a block along k
  int64_t blocks = 0;        ///< number of blocks of a row; the last one may be shorter
  int64_t bits = 0;          ///< width of a quantized value: 4 or 8
  std::vector<float> scales; ///< scale of each block: [n, blocks]
  std::vector<float> zeros;  ///< zero points: [n, blocks]; empty if all are 0

  /// Returns the quantized values as i8 [n, blocks, depth]. The last block is padded with 0.
  std::vector<int8_t> numbers() const;
  /// Returns the dequantized weights in f32, in the shape of the matmul's right operand.
  ref::Tensor dequantized() const;

private:
  /// Calls visit(index, row, column, number) for each quantized value, in the memory order of the
  /// matmul's right operand.
  template <typename Visit> void forEach(Visit visit) const;

  std::optional<ref::Tensor> stored; ///< quantized values as the model stores them
  int64_t middle = 0;                ///< half of the range of an unsigned type, else 0
  bool isTransposed = false;         ///< whether `stored` is [n, k] instead of [k, n]
};

} // namespace dlc

#endif // DLC_PASSES_QUANTIZEDWEIGHTS_H

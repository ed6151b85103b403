//===- QuantizedWeights.h - matmuls whose kernels read quantized weights --===//
//
//   %w = dlc.dequantize %q, %scale, %zero_point   -> [n, k] or [k, n], of constants
//   %y = dlc.matmul %x, %w {dlc.quantized_weights}
//
// The kernel of such a matmul reads %q. The attribute keeps the dequantization, which is otherwise
// expanded and evaluated, until a kernel is selected (codegen/select/WeightForm.h).
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_QUANTIZEDWEIGHTS_H
#define DLC_PASSES_QUANTIZEDWEIGHTS_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc {

/// Attribute of a matmul: the kernel may quantize the left operand to this type ("int8"), in blocks
/// along k.
constexpr llvm::StringLiteral kActivationsAttr = "dlc.activations";

/// Attribute of a matmul whose right operand is a dlc.dequantize: its kernel reads the quantized
/// values.
constexpr llvm::StringLiteral kQuantizedWeightsAttr = "dlc.quantized_weights";

/// Returns the dequantization of a matmul with kQuantizedWeightsAttr; null for other operations.
DequantizeOp quantizedWeightsOf(mlir::Operation *op);
/// Returns the matmul of a fusion that reads quantized weights; null if there is none.
MatmulOp quantizedProductOf(FusionOp fusion);
/// Whether a matmul with kQuantizedWeightsAttr reads the value.
bool isQuantizedWeights(mlir::Value value);

/// Constant weights in blocks along k: element = (number - zero point of the block) * scale of the
/// block. Numbers of unsigned types are stored minus half of their range, and so are zero points.
class QuantizedWeights {
public:
  /// Returns the tensor of a value, or nullopt if it is not a constant.
  using Reader = llvm::function_ref<std::optional<ref::Tensor>(mlir::Value)>;

  /// Reads the right operand of a matmul, a dequantization to f32. Returns nullopt if it has no
  /// such form: blocks along n, block sizes that are not a multiple of 16, zero points that are not
  /// integers of the numbers' width, or operands that are not constant.
  static std::optional<QuantizedWeights> read(MatmulOp product, Reader reader);

  int64_t n = 0, k = 0;
  int64_t depth = 0;         ///< elements of a block
  int64_t blocks = 0;        ///< blocks of a row; the last one may be shorter
  int64_t bits = 0;          ///< width of a number: 4 or 8
  std::vector<float> scales; ///< [n, blocks]
  std::vector<float> zeros;  ///< [n, blocks]; empty if all are 0

  /// Returns the numbers as i8 [n, blocks, depth]. Padding of the last block is 0.
  std::vector<int8_t> numbers() const;
  /// Returns the weights in f32, in the shape of the matmul's operand.
  ref::Tensor dequantized() const;

private:
  /// Calls visit(row, column, number) for each element, in the order of the operand.
  template <typename Visit> void forEach(Visit visit) const;

  std::optional<ref::Tensor> stored; ///< numbers as the dequantization reads them
  int64_t middle = 0;                ///< half of the range of an unsigned type
  bool isTransposed = false;         ///< whether `stored` is [n, k] instead of [k, n]
};

} // namespace dlc

#endif // DLC_PASSES_QUANTIZEDWEIGHTS_H

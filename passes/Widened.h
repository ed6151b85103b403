//===- Widened.h - 8-bit integer operands of i32 contractions -------------===//
#ifndef DLC_PASSES_WIDENED_H
#define DLC_PASSES_WIDENED_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc {

/// 8-bit integer tensor that is extended to i32, cast(x) or cast(x) - zero point, as an operand of
/// an integer contraction.
struct Widened {
  mlir::Value x;         ///< i8 or ui8
  mlir::Value zeroPoint; ///< i32, one element; null means 0
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Matches cast(x) or cast(x) - zero point. If `inside` is set, only operations that it accepts are
/// matched.
std::optional<Widened> matchWidened(mlir::Value value,
                                    llvm::function_ref<bool(mlir::Operation *)> inside = nullptr);

/// Matches an operand of a contraction. Only operations in the block of the contraction are
/// matched, so that they can be fused with it.
std::optional<Widened> matchWidened(mlir::OpOperand &operand);

/// Matches the source of a chain of views, such as reshapes, that ends in `value`.
std::optional<Widened> matchWidenedBehindViews(mlir::Value value);

/// Whether all elements of the tensor are in [low, high].
bool areWithin(const ref::Tensor &integers, int64_t low, int64_t high);

/// Whether `zero` is an 8-bit zero point: a constant whose elements have 8 bits, or a cast of an
/// 8-bit value. A null value means a zero point of 0. If `zero` is an argument of the body of
/// `fusion`, the corresponding input of the fusion is checked.
bool isZeroPoint(mlir::Value zero, FusionOp fusion = nullptr);

/// Whether the matmul has at most `mostRows` rows and a large weight matrix. Such a matmul is bound
/// by weight bandwidth, so that 8-bit weights are faster.
constexpr int64_t kMostRows = 8;
bool waitsForWeights(MatmulOp product, int64_t mostRows = kMostRows);

bool isInt32(mlir::Type tensor);
/// Whether the elements are 8-bit integers, signed or unsigned.
bool isInt8(mlir::Type tensor);

} // namespace dlc

#endif // DLC_PASSES_WIDENED_H

//===- Widened.h - integers of 8 bits, made wider and centred --------------===//
#ifndef DLC_PASSES_WIDENED_H
#define DLC_PASSES_WIDENED_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc {

/// cast(x) to i32, or cast(x) - zero point, as quantised operands of contractions are.
struct Widened {
  mlir::Value x;         ///< i8 or ui8
  mlir::Value zeroPoint; ///< i32, one element; null: 0
  llvm::SmallVector<mlir::Operation *, 2> ops;
};

/// Reads that, from operations that are `inside` where there is such a filter.
std::optional<Widened> matchWidened(mlir::Value value,
                                    llvm::function_ref<bool(mlir::Operation *)> inside = nullptr);

/// The same of a contraction's operand: from operations beside it, which may become part of it.
std::optional<Widened> matchWidened(mlir::OpOperand &operand);

/// The same of what is seen in other shapes on the way.
std::optional<Widened> matchWidenedBehindViews(mlir::Value value);

/// Whether all of a tensor's integers are from `low` up to `high`.
bool areWithin(const ref::Tensor &integers, int64_t low, int64_t high);

/// Whether these integers are of 8 bits: constants, or what a cast made of such. `fusion`: whose
/// body's arguments may be asked for; null: none. No value is a zero point, too: 0.
bool isZeroPoint(mlir::Value zero, FusionOp fusion = nullptr);

/// Whether a product has few rows and many weights: it waits for these to come from memory, so that
/// they had better be 8 bits there.
constexpr int64_t kMostRows = 8;
bool waitsForWeights(MatmulOp product, int64_t mostRows = kMostRows);

bool isInt32(mlir::Type tensor);
/// Of 8 bits, with or without a sign.
bool isInt8(mlir::Type tensor);

} // namespace dlc

#endif // DLC_PASSES_WIDENED_H

//===- Ask.h - which layouts oneDNN wants for an operation ----------------===//
#ifndef DLC_PASSES_LAYOUT_ASK_H
#define DLC_PASSES_LAYOUT_ASK_H

#include "passes/TensorBuilder.h"

#include <nlohmann/json.hpp>

#include <map>

namespace dlc {

struct Wanted {
  std::string source, destination; // empty: plain
};

/// Whether a library for processors sums products of 8-bit integers here, exactly.
bool libraryHasExactSums();

/// Asks, and remembers the answers: networks repeat themselves.
class LayoutOracle {
public:
  explicit LayoutOracle(int threads) : threads(threads) {}

  /// Whether it has a kernel for a conv or matmul in i32 of operands that are widened from 8 bits.
  bool sumsIntegers(mlir::Operation *op);
  /// What oneDNN chooses freely for a conv or conv_transpose.
  std::optional<Wanted> wantedByConv(mlir::Operation *op);
  /// For a conv_weight_grad (source: x, destination: dy).
  std::optional<Wanted> wantedByWeightGrad(ConvWeightGradOp op);
  /// These layouts, if there is a kernel of its own for them; empty: plain.
  std::optional<Wanted> offerForConv(mlir::Operation *op, llvm::StringRef source,
                                     llvm::StringRef destination);
  std::optional<Wanted> offerForWeightGrad(ConvWeightGradOp op, llvm::StringRef source,
                                           llvm::StringRef destination);
  /// For a pool, or a pool's gradient, whose operand is in `source`.
  std::optional<Wanted> wantedByPool(mlir::Operation *op, llvm::StringRef source);

private:
  std::optional<Wanted> askConv(mlir::Operation *op, llvm::StringRef source,
                                llvm::StringRef destination);
  std::optional<Wanted> askWeightGrad(ConvWeightGradOp op, llvm::StringRef source,
                                      llvm::StringRef destination);
  std::optional<Wanted> answer(const nlohmann::json &desc, const char *source,
                               const char *destination);

  std::map<std::string, std::optional<Wanted>> answers;
  int threads;
};

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_ASK_H

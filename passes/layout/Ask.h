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

/// Asks, and remembers the answers: networks repeat themselves.
class LayoutOracle {
public:
  explicit LayoutOracle(int threads) : threads(threads) {}

  /// For a conv or conv_transpose: `tag` on both sides (or on the result alone, when the plain
  /// operand is as good), if that has a kernel of its own; else what oneDNN chooses freely.
  std::optional<Wanted> wantedByConv(mlir::Operation *op, llvm::StringRef tag);
  /// What oneDNN chooses freely.
  std::optional<Wanted> wantedByConv(mlir::Operation *op);
  /// For a conv_weight_grad (source: x, destination: dy): the same with x as it comes.
  std::optional<Wanted> wantedByWeightGrad(ConvWeightGradOp op, llvm::StringRef source,
                                           llvm::StringRef tag);
  std::optional<Wanted> wantedByWeightGrad(ConvWeightGradOp op);
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

//===- Ask.h - which layouts oneDNN wants for an operation ----------------===//
#ifndef DLC_PASSES_LAYOUT_ASK_H
#define DLC_PASSES_LAYOUT_ASK_H

#include "passes/TensorBuilder.h"

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
  /// For a pool whose operand is in `source`.
  std::optional<Wanted> wantedByPool(mlir::Operation *op, llvm::StringRef source);

private:
  std::optional<Wanted> askConv(mlir::Operation *op, llvm::StringRef source,
                                llvm::StringRef destination);

  std::map<std::string, std::optional<Wanted>> answers;
  int threads;
};

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_ASK_H

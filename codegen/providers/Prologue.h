//===- Prologue.h - operands that are made while a product packs them -----===//
//
//   x -> exp(x - shift) * factor + one-hot -> views -> matmul -> post-ops
//                    |
//                    +-> sums of its columns
//
// A product on tiles rounds and reorders its operands anyway: what a kernel makes for products
// alone (the gradient of a softmax cross-entropy) need not be written and read again.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PROLOGUE_H
#define DLC_CODEGEN_PROVIDERS_PROLOGUE_H

#include "ir/dlc/Dialect.h"

namespace dlc {

struct Prologue {
  /// What the product multiplies, and the fusion's argument of its shape that it is made of.
  mlir::Value made, x;
  /// Arguments with one element for each row, or one for all; null where there is none.
  mlir::Value shift, factor, hot;
  double value = 0; ///< added where the column is hot
  bool exponential = false;
  /// The fusion's second result, where it has one: the sum of each column.
  ReduceOp sums;
  bool changes() const { return x != made; }
  /// All of the body but the product, what stands around it, and constants.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Reads the body of a fusion around a matrix product. What is only summed up as it is packed has
/// no other changes.
std::optional<Prologue> matchPrologue(FusionOp fusion);

} // namespace dlc
#endif

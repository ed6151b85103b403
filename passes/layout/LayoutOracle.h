//===- LayoutOracle.h - queries oneDNN for preferred layouts --------------===//
#ifndef DLC_PASSES_LAYOUT_LAYOUTORACLE_H
#define DLC_PASSES_LAYOUT_LAYOUTORACLE_H

#include "passes/TensorBuilder.h"

#include <nlohmann/json.hpp>

#include <map>

namespace dlc {

struct LayoutPair {
  std::string source, destination; // layout tags; empty: row-major
};

/// Returns whether a CPU library accumulates products of 8-bit integers exactly on this machine.
bool libraryHasExactSums();

/// Queries oneDNN for kernels and preferred layouts, and caches the answers, because networks
/// contain many equal layers.
class LayoutOracle {
public:
  explicit LayoutOracle(int threads) : threads(threads) {}

  /// Returns whether oneDNN has a kernel for an i32 conv or matmul whose operands are extended from
  /// 8 bits.
  bool sumsIntegers(mlir::Operation *op);
  /// Returns the layouts that oneDNN prefers for a conv or conv_transpose, or nullopt if there are
  /// none.
  std::optional<LayoutPair> preferredByConv(mlir::Operation *op);
  /// Returns the layouts that oneDNN prefers for a conv_weight_grad: `source` is the layout of x,
  /// `destination` that of dy.
  std::optional<LayoutPair> preferredByWeightGrad(ConvWeightGradOp op);
  /// Returns the given layouts if oneDNN has an optimized kernel for them, otherwise nullopt. An
  /// empty layout means row-major.
  std::optional<LayoutPair> offerForConv(mlir::Operation *op, llvm::StringRef source,
                                         llvm::StringRef destination);
  std::optional<LayoutPair> offerForWeightGrad(ConvWeightGradOp op, llvm::StringRef source,
                                               llvm::StringRef destination);
  /// Returns the layouts that oneDNN prefers for a pool, or a pool's gradient, whose operand is in
  /// the layout `source`.
  std::optional<LayoutPair> preferredByPool(mlir::Operation *op, llvm::StringRef source);

private:
  std::optional<LayoutPair> queryConv(mlir::Operation *op, llvm::StringRef source,
                                      llvm::StringRef destination);
  std::optional<LayoutPair> queryWeightGrad(ConvWeightGradOp op, llvm::StringRef source,
                                            llvm::StringRef destination);
  std::optional<LayoutPair> answer(const nlohmann::json &desc, const char *source,
                                   const char *destination);

  std::map<std::string, std::optional<LayoutPair>> answers;
  int threads;
};

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_LAYOUTORACLE_H

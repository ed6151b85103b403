//===- Words.h - tensors, steps and calls in oneDNN's words ---------------===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_WORDS_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_WORDS_H

#include "codegen/providers/Cost.h"
#include "codegen/providers/Product.h"
#include "passes/layout/Geometry.h"

namespace dlc::onednn_desc {

/// {"dims", "dtype", "tag"}: the type's layout, or the plain one.
json argument(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef tag = "");
json argument(mlir::Value value);
json argument(const TensorForm &form);
/// {"dims", "dtype", "strides"}
json strided(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, mlir::Type element);
/// abcd for rank 4.
std::string plainTag(int64_t rank);

/// Weights that change from run to run: the library packs them as it likes within each call.
json packedInside(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef plain);

/// Ends a call: asks oneDNN, gives each argument its buffer. `sources` are the values in the
/// library's order without result and packed ones; on failure says why.
struct Pending {
  mlir::Operation *op = nullptr;
  json desc;
  /// By argument name: where its bytes come from.
  std::vector<std::pair<std::string, CallArgument>> sources;
  /// Arguments that are constants to be packed: name, plain bytes, plain tag ("" is row-major). Of
  /// i32 that become i8: what is taken from each first.
  struct Pack {
    std::string name;
    ref::Tensor plain;
    std::string tag;
    std::optional<int64_t> shift = {};
  };
  std::vector<Pack> packs;
  double flops = 0;
  std::vector<std::pair<std::string, std::string>> inplace; ///< (written, read) by name
  std::optional<CallArgument> accumulates;
};
/// A call, and what the library was asked for: layouts of its choice still open, and which of its
/// implementations where one was named.
struct Answer {
  LibraryCall call;
  json request;
};

/// How the library is asked.
struct Query {
  int threads;
  std::string implementation; ///< in the library's words; empty: the one that it prefers
  std::string *why;
  /// By one thread, whatever the others do.
  bool alone = false;

  std::nullopt_t no(const llvm::Twine &reason) const { return Refusal{why}(reason); }
};
std::optional<Answer> finish(Pending pending, const Query &query);

/// Adds the steps, and sources of their operands.
void addSteps(const std::vector<EpilogueStep> &steps, Pending &call);

/// Families.
std::optional<Answer> contraction(FusionOp fusion, const Query &query);
std::optional<Answer> training(mlir::Operation *op, const Query &query);
std::optional<Answer> recurrent(mlir::Operation *op, const Query &query);
/// What one step of a recurrent layer multiplies and adds up.
double flopsOfStep(mlir::Operation *recurrent);
std::optional<Answer> movement(mlir::Operation *op, const Query &query);

/// Microseconds.
double estimate(const LibraryCall &call, const CostModel &cost);

} // namespace dlc::onednn_desc
#endif

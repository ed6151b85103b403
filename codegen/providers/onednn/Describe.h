//===- Describe.h - tensors, epilogues and calls as oneDNN descriptions ---===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_DESCRIBE_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_DESCRIBE_H

#include "codegen/providers/Cost.h"
#include "codegen/providers/Product.h"
#include "passes/layout/Geometry.h"

namespace dlc::onednn_desc {

/// {"dims", "dtype", "tag"}: `tag` or the type's layout; row-major if empty.
json argument(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef tag = "");
json argument(mlir::Value value);
json argument(const TensorDesc &desc);
/// {"dims", "dtype", "strides"}
json strided(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, mlir::Type element);
/// Returns the row-major tag: abcd for rank 4.
std::string plainTag(int64_t rank);

/// Describes weights that are not constant: the library packs them in its preferred layout within
/// each call. `plain` is the tag of the unpacked weights.
json packedInside(llvm::ArrayRef<int64_t> dims, mlir::Type element, llvm::StringRef plain);

/// Incomplete call: finish() queries oneDNN and assigns a buffer to each argument.
struct Pending {
  mlir::Operation *op = nullptr;
  json desc;
  /// Buffers of the arguments, by argument name.
  std::vector<std::pair<std::string, CallArgument>> sources;
  /// Constant argument to be packed: its name, unpacked data and unpacked tag ("" is row-major).
  struct Pack {
    std::string name;
    ref::Tensor plain;
    std::string tag;
  };
  std::vector<Pack> packs;
  double flops = 0;
  std::vector<std::pair<std::string, std::string>> inplace; ///< (written, read) by name
  std::optional<CallArgument> accumulates;
};
/// A call, and the request that oneDNN answered: layouts are still left to the library, and an
/// implementation is given only if the query named one.
struct Answer {
  LibraryCall call;
  json request;
};

/// Parameters of a oneDNN query.
struct Query {
  int threads;
  std::string implementation; ///< the library's name of an implementation; empty: its preferred one
  std::string *why;
  /// Whether a single thread runs the call, while other threads may run other work.
  bool alone = false;

  std::nullopt_t refuse(const llvm::Twine &reason) const { return Refusal{why}(reason); }
};
std::optional<Answer> finish(Pending pending, const Query &query);

/// Adds the epilogue and the buffers of its operands.
void addSteps(const std::vector<EpilogueStep> &steps, Pending &call);

/// Queries for each family of operations.
std::optional<Answer> contraction(FusionOp fusion, const Query &query);
std::optional<Answer> training(mlir::Operation *op, const Query &query);
std::optional<Answer> recurrent(mlir::Operation *op, const Query &query);
/// Number of operations of the recurrent matmul in one time step.
double flopsOfStep(mlir::Operation *recurrent);
std::optional<Answer> movement(mlir::Operation *op, const Query &query);

/// Returns the estimated time in microseconds.
double estimate(const LibraryCall &call, const CostModel &cost);

} // namespace dlc::onednn_desc
#endif

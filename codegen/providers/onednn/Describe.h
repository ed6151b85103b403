//===- Describe.h - tensors, epilogues and calls as oneDNN descriptions ---===//
#ifndef DLC_CODEGEN_PROVIDERS_ONEDNN_DESCRIBE_H
#define DLC_CODEGEN_PROVIDERS_ONEDNN_DESCRIBE_H

#include "codegen/providers/Cost.h"
#include "codegen/providers/Product.h"
#include "codegen/providers/onednn/Window.h"
#include "runtime/library/onednn/Describe.h"

#include <variant>

namespace dlc::onednn_desc {

/// Describes a tensor by a layout tag: `tag` or the layout of the type; row-major if empty.
schema::Layout describeArgument(llvm::ArrayRef<int64_t> dims, mlir::Type element,
                                llvm::StringRef tag = "");
schema::Layout describeArgument(mlir::Value value);
schema::Layout describeArgument(const TensorDesc &desc);
/// Describes a tensor by its strides.
schema::Layout describeStrided(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides,
                               std::string dtype);
/// Returns the row-major format tag of this rank: abcd for rank 4.
std::string plainTag(int64_t rank);

/// Describes weights that are not constant: each call packs them in the layout that the library
/// prefers. `plain` is the tag of the unpacked weights.
schema::Layout describeRepackedWeights(llvm::ArrayRef<int64_t> dims, mlir::Type element,
                                       llvm::StringRef plain);

/// Description of a oneDNN call. Desc.md has the arguments and the parameters of each kind.
struct Description {
  schema::OnednnCall call;
  schema::OnednnArguments arguments;
  std::variant<std::monostate, schema::OnednnConvolution, schema::OnednnPool,
               schema::OnednnRecurrent, schema::OnednnVanillaRnn>
      parameters;

  /// Sets the rounding of f32 operands that `--matmul-precision` permits for the operation (fpmath
  /// mode).
  void setMathMode(mlir::Operation *op);
  nlohmann::json toJson() const;
};

/// Incomplete library call: completeCall() queries oneDNN and assigns a buffer to each argument.
struct PendingCall {
  mlir::Operation *op = nullptr;
  Description desc;
  /// Buffers of the call's arguments, by argument name.
  std::vector<std::pair<std::string, CallArgument>> sources;
  /// Constant argument to be packed: its name, unpacked data and unpacked tag ("" means row-major).
  struct Pack {
    std::string name;
    ref::Tensor plain;
    std::string tag;
  };
  std::vector<Pack> packs;
  double flops = 0;
  std::vector<std::pair<std::string, std::string>>
      inplace; ///< pairs (written, read) of argument names
  std::optional<CallArgument> accumulates;
};
/// Answer of oneDNN to a query: the library call with the layouts and the implementation that
/// oneDNN chose, and the request. In the request, layouts are "any", and the implementation is
/// given only if the query names one.
struct QueryResult {
  LibraryCall call;
  onednn::Implementation implementation; ///< properties of the implementation
  nlohmann::json request;
};

/// Parameters of a oneDNN query.
struct OnednnQuery {
  int threads;
  std::string
      implementation; ///< oneDNN's name of the requested implementation; empty: oneDNN chooses
  std::string *why;
  /// Whether a single thread executes the call, while other threads may execute other calls.
  bool alone = false;

  std::nullopt_t refuse(const llvm::Twine &reason) const { return Refusal{why}(reason); }
};
std::optional<QueryResult> completeCall(PendingCall pending, const OnednnQuery &query);

/// Adds the epilogue ops and the buffers of their operands to the call. Returns false and reports
/// the reason if oneDNN has no counterpart of an op.
bool addEpilogueOps(const std::vector<EpilogueStep> &steps, PendingCall &call,
                    const OnednnQuery &query);

/// Queries oneDNN for an operation: one function for each family of operations.
std::optional<QueryResult> queryContraction(FusionOp fusion, const OnednnQuery &query);
std::optional<QueryResult> queryTraining(mlir::Operation *op, const OnednnQuery &query);
std::optional<QueryResult> queryRecurrent(mlir::Operation *op, const OnednnQuery &query);
/// Number of operations of a recurrent network's matmul in one time step.
double getFlopsPerStep(mlir::Operation *recurrent);
std::optional<QueryResult> queryMovement(mlir::Operation *op, const OnednnQuery &query);

/// Returns the estimated time of a oneDNN call by an implementation in microseconds.
double estimate(const LibraryCall &call, const onednn::Implementation &implementation,
                const CostModel &cost);

} // namespace dlc::onednn_desc
#endif

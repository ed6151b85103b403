//===- Provider.h - interface of kernel providers -------------------------===//
//
// A provider offers kernels for operations: a library, hand-written kernels of dlc, or a code
// generator. Each provider is one file or folder in codegen/providers and one row of Providers.def.
// No other code refers to a provider by name.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PROVIDER_H
#define DLC_CODEGEN_PROVIDERS_PROVIDER_H

#include "codegen/cpu/Schedule.h"
#include "codegen/providers/Candidate.h"
#include "codegen/providers/Cost.h"
#include "codegen/providers/LibraryCall.h"
#include "passes/Costs.h"

namespace dlc {

/// Inputs that determine an operation's candidates, apart from the operation itself.
struct SelectionContext {
  const cpu::Target &target;
  const Profile &profile; ///< cost-model parameters for estimates
  int threads = 1;
  /// Permitted rounding of sums of f32 products: "strict", "default" or "fast". An operation's
  /// `dlc.accuracy` attribute takes precedence.
  std::string accuracy = "default";
  std::string device = {}; ///< name of the GPU that the operation runs on; empty: the host
  /// GPU architecture to compile for; empty: that of `device`.
  std::string gpuArch = {};
  /// Whether to propose all implementations that are worth measuring, not only the ones with the
  /// best estimates.
  bool every = false;
  /// Whether providers that generate code may propose candidates.
  bool generated = true;
};

/// Returns true if a loop contains the operation, so that its weights may still be in the caches
/// from the previous iteration.
bool isRepeated(mlir::Operation *op);

/// Collects the candidates for one operation, and the reasons of the providers that refuse it.
class CandidateCollector {
public:
  CandidateCollector(mlir::Operation *op, const SelectionContext &selection);
  ~CandidateCollector();

  void add(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  /// Adds a library call as a candidate with this estimated time.
  void add(llvm::StringRef kernel, const LibraryCall &call, double microseconds,
           mlir::DictionaryAttr parameters = {});
  void refuse(llvm::StringRef who, llvm::StringRef why);

  /// Returns the fusion's normalized form, computed once for all providers. Returns null and sets
  /// `why` if the fusion cannot be normalized.
  FusionOp normal(std::string &why);

  mlir::Operation *const op;
  const FusionOp fusion; ///< `op` as a fusion; null for other operations
  const SelectionContext &selection;
  const CostModel cost;
  std::vector<Candidate> candidates;
  std::string refusals;

private:
  FusionOp normalized;
  /// Reason why `normalized` is null. Unset until normal() is called.
  std::optional<std::string> whyNot;
};

/// Kind of code that implements an operation with a chosen kernel.
enum class KernelKind {
  Host, ///< generated code for the host CPU, as returned by schedule()
  Gpu,  ///< generated source code for a GPU (codegen/cuda)
  Call, ///< library call, as returned by call()
};

class Provider {
public:
  struct About {
    /// Provider name in dlc.kernel, --kernels, programs and tuning databases.
    llvm::StringLiteral name;
    llvm::StringLiteral description; ///< short description for users
    KernelKind kind = KernelKind::Call;
    bool onGpu = false;
    /// Group name that --kernels also accepts for this provider.
    llvm::StringLiteral family = "";
    /// Key in dlc.parameters that distinguishes the provider's kernels for one operation. Empty if
    /// there is only one kernel per operation.
    llvm::StringLiteral parameter = "";
    /// Whether a kernel can compute channel statistics of a convolution.
    bool computesChannelSums = false;
    /// Whether a kernel can compute a matmul's operands while it packs them.
    bool fusesPrologue = false;
    /// Whether a kernel still supports a fusion after some of its operations are removed.
    bool acceptsPartialBody = false;
  };

  constexpr explicit Provider(const About &about) : about(about) {}
  virtual ~Provider() = default;
  Provider(const Provider &) = delete;

  /// Adds the provider's candidates with their estimates, or reports why there are none.
  virtual void propose(CandidateCollector &collector) const = 0;

  /// For KernelKind::Call: returns the library call for the operation. `parameters` are those of a
  /// candidate that this provider proposed.
  virtual std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters,
                                          int threads, std::string *why) const;
  /// For KernelKind::Host: returns the schedule with which code is generated for `normal`, the
  /// normalized form of `fusion`.
  virtual mlir::FailureOr<Schedule> schedule(FusionOp fusion, FusionOp normal,
                                             const cpu::Target &target, bool packs,
                                             std::string &why) const;

  /// Returns the layouts for which the provider has an optimized kernel of a convolution, of its
  /// gradients or of a pool on a CPU (see Costs::preferredLayouts()). Without `required`, the
  /// provider chooses the layouts.
  virtual std::optional<LayoutPair> preferredLayouts(mlir::Operation *op,
                                                     const std::optional<LayoutPair> &required,
                                                     int threads) const {
    return std::nullopt;
  }
  /// Returns the bytes of a tensor whose layout only the provider's library can compute.
  virtual std::optional<int64_t> layoutBytes(mlir::RankedTensorType type) const {
    return std::nullopt;
  }
  /// Returns true if the library sums products of 8-bit integers on this CPU without saturation.
  virtual bool sumsInt8Exactly() const { return false; }
  /// Returns true if the provider computes attention in one kernel, without the score matrix.
  virtual bool hasFusedAttention() const { return false; }
  /// Returns true if the implementation uses execution units that the threads of a core share
  /// (AMX).
  virtual bool sharesUnits(llvm::StringRef implementation) const { return false; }
  /// Returns the version of the underlying library; measured times are valid only for that version.
  /// Empty if no library is used.
  virtual std::string version() const { return ""; }

  const About about;
};

/// Provider of library calls whose kernels have at most one integer parameter.
class CallProvider : public Provider {
public:
  using Provider::Provider;

  void propose(CandidateCollector &collector) const final;
  std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters, int threads,
                                  std::string *why) const final;

protected:
  /// Returns the parameter values of the candidate kernels. Empty if the provider does not support
  /// the operation or has refused it. If make() fails for the first value, its reason is reported
  /// as a refusal.
  virtual llvm::SmallVector<int64_t> variants(CandidateCollector &collector) const = 0;
  virtual std::optional<LibraryCall> make(mlir::Operation *op, int64_t variant, int threads,
                                          std::string *why) const = 0;
  /// Returns the estimated time of the call in microseconds.
  virtual double estimate(const LibraryCall &call, const CostModel &cost) const = 0;
};

/// Providers of Providers.def; each function is defined in the provider's own file.
namespace provide {
#define PROVIDER(name) const Provider &name();
#include "codegen/providers/Providers.def"
#undef PROVIDER
} // namespace provide

/// Returns all providers in the order of Providers.def, in which they are queried.
llvm::ArrayRef<const Provider *> providers();
/// Returns true if a library sums products of 8-bit integers on this CPU without saturation.
bool hasExactInt8Library();
/// Returns the provider with this name; null if no provider has it.
const Provider *findProvider(llvm::StringRef name);
/// Returns the provider of the kernel that was chosen for the operation; null if none was chosen.
const Provider *findProvider(mlir::Operation *op);
/// Returns the names that --kernels accepts: names of providers and of provider families.
std::vector<std::string> kernelNames();
/// Returns true if `asked`, a value of --kernels, names the provider or its family.
bool matchesProviderName(llvm::StringRef asked, const Provider &provider);

/// Returns the candidates for the operation, sorted by estimate. Appends the reasons of the
/// providers that cannot implement it to `refusals`.
std::vector<Candidate> candidatesFor(mlir::Operation *op, const SelectionContext &selection,
                                     std::string &refusals);
/// Moves the candidates requested by --kernels to the front; the order is otherwise preserved.
void preferKernels(std::vector<Candidate> &candidates, llvm::StringRef asked);

/// Returns the library call that was chosen for the operation.
std::optional<LibraryCall> describeLibraryCall(mlir::Operation *op, int threads,
                                               std::string *why = nullptr);

} // namespace dlc
#endif

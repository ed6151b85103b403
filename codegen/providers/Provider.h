//===- Provider.h - who has kernels ---------------------------------------===//
//
// A provider has kernels for operations: a library, kernels of our own, or an emitter. Each is one
// file or folder here and one row of Providers.def; nobody else knows its name.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_PROVIDER_H
#define DLC_CODEGEN_PROVIDERS_PROVIDER_H

#include "codegen/cpu/Schedule.h"
#include "codegen/providers/Candidate.h"
#include "codegen/providers/Cost.h"
#include "codegen/providers/LibraryCall.h"

namespace dlc {

/// What an operation's candidates depend on, beside the operation.
struct Situation {
  const cpu::Target &target;
  const Profile &profile; ///< what estimates go by
  int threads = 1;
  /// What sums of f32 products may lose: strict, default or fast; a contraction's own word beats
  /// it.
  std::string accuracy = "default";
  std::string device = {};  ///< of a GPU; empty: the host
  std::string gpuArch = {}; ///< that kernels are made for; empty: the device's
  /// All implementations that are worth a measurement, not only those that estimates prefer.
  bool every = false;
  /// Whether generated code takes part.
  bool generated = true;
};

/// Whether a loop runs the operation again and again, so that it finds its weights where they were.
bool isRepeated(mlir::Operation *op);

/// Who stands for election, and why others do not.
class Proposals {
public:
  Proposals(mlir::Operation *op, const Situation &situation);
  ~Proposals();

  void add(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  /// A call of a library, with this estimate.
  void add(llvm::StringRef kernel, const LibraryCall &call, double microseconds,
           mlir::DictionaryAttr parameters = {});
  void refuse(llvm::StringRef who, llvm::StringRef why);

  /// The fusion's normal form, made once for all who ask; null and why where there is none.
  FusionOp normal(std::string &why);

  mlir::Operation *const op;
  const FusionOp fusion; ///< the same; null for other operations
  const Situation &situation;
  const CostModel cost;
  std::vector<Candidate> candidates;
  std::string refusals;

private:
  FusionOp normalized;
  std::optional<std::string> whyNot; ///< once asked for
};

/// What becomes of a choice.
enum class KernelForm {
  Host, ///< code for the processor: `schedule` says which
  Gpu,  ///< text for a GPU (codegen/cuda)
  Call, ///< of a library, as `call` says
};

class Provider {
public:
  struct About {
    llvm::StringLiteral name; ///< in dlc.kernel, --kernels, programs and tuning databases
    llvm::StringLiteral does; ///< a few words for people
    KernelForm form = KernelForm::Call;
    bool onGpu = false;
    /// What --kernels also takes for it.
    llvm::StringLiteral family = "";
    /// What tells its kernels apart, as dlc.parameters has it; empty: there is one for each
    /// operation.
    llvm::StringLiteral parameter = "";
    bool sumsChannels = false;  ///< statistics of a convolution's channels while it makes them
    bool makesOperands = false; ///< of products, while it packs them
    bool takesAnyBody = false;  ///< whatever of a fusion's operations are left
  };

  constexpr explicit Provider(const About &about) : about(about) {}
  virtual ~Provider() = default;
  Provider(const Provider &) = delete;

  /// Adds its candidates, each with an estimate, or says why it has none.
  virtual void propose(Proposals &proposals) const = 0;

  /// KernelForm::Call: the call with these parameters, which a candidate of its own had.
  virtual std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters,
                                          int threads, std::string *why) const;
  /// KernelForm::Host: how code for `normal`, the normal form of `fusion`, is to be made.
  virtual mlir::FailureOr<Schedule> schedule(FusionOp fusion, FusionOp normal,
                                             const cpu::Target &target, bool packs,
                                             std::string &why) const;

  /// Whether it does attention whole, without the score matrix.
  virtual bool attends() const { return false; }
  /// Whether the implementation works on units that all threads of a core share.
  virtual bool sharesUnits(llvm::StringRef implementation) const { return false; }
  /// Of the library behind it: its times are of this version alone. Empty: there is none.
  virtual std::string version() const { return ""; }

  const About about;
};

/// A provider of calls whose kernels one number tells apart, or nothing.
class CallProvider : public Provider {
public:
  using Provider::Provider;

  void propose(Proposals &proposals) const final;
  std::optional<LibraryCall> call(mlir::Operation *op, mlir::DictionaryAttr parameters, int threads,
                                  std::string *why) const final;

protected:
  /// Numbers of kernels that may stand for election; of the first that cannot is told why. None:
  /// not asked for this operation, or refused.
  virtual llvm::SmallVector<int64_t> ways(Proposals &proposals) const = 0;
  virtual std::optional<LibraryCall> make(mlir::Operation *op, int64_t way, int threads,
                                          std::string *why) const = 0;
  /// Microseconds.
  virtual double estimate(const LibraryCall &call, const CostModel &cost) const = 0;
};

/// The rows of the table, each defined in its provider's own file.
namespace provide {
#define PROVIDER(name) const Provider &name();
#include "codegen/providers/Providers.def"
#undef PROVIDER
} // namespace provide

/// The table, in the order in which all are asked.
llvm::ArrayRef<const Provider *> providers();
/// Null where there is none of this name.
const Provider *providerOf(llvm::StringRef name);
/// The provider that was chosen for the operation; null where none was.
const Provider *providerOf(mlir::Operation *op);
/// Names that --kernels takes: of providers and families.
std::vector<std::string> kernelNames();
/// Whether `asked`, a name of --kernels, means the provider.
bool means(llvm::StringRef asked, const Provider &provider);

/// Who can do it, the cheapest by estimate first. `refusals` gets why others cannot.
std::vector<Candidate> candidatesFor(mlir::Operation *op, const Situation &situation,
                                     std::string &refusals);
/// Puts those in front that --kernels asks for; the order is otherwise kept.
void preferKernels(std::vector<Candidate> &candidates, llvm::StringRef asked);

/// The call that was chosen for the operation.
std::optional<LibraryCall> callOf(mlir::Operation *op, int threads, std::string *why = nullptr);

} // namespace dlc
#endif

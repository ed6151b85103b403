//===- Refine.h - fuses and splits kernels after kernel selection ---------===//
//
// A library's kernel may support more operations than those for which it was selected: summing
// operands that it packs, computing an operand, or applying further ops to its result. Libraries
// differ in this, so these fusions are decided after kernel selection. So are fusions for which no
// kernel is fast, which are split into two kernels. A pattern builds an alternative next to the
// existing kernels and computes the time that it saves. The driver commits the alternative or drops
// it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_REFINE_REFINE_H
#define DLC_CODEGEN_REFINE_REFINE_H

#include "codegen/providers/Provider.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

struct RefineOptions {
  SelectionContext selection;
  /// Kernels requested by --kernels. If any are requested, all fusions that these kernels support
  /// are made, regardless of the cost.
  std::string kernels = {};
  /// Selects kernels for operations that a pattern created, in the same way as the select phase:
  /// with `--tune`, their candidates are measured. Replaces operations that were replaced during
  /// selection by the new ones.
  std::function<mlir::LogicalResult(llvm::MutableArrayRef<mlir::Operation *>)> select = {};
};

/// State of the refinement of one module: options, cost model and erased operations.
class Refinement {
public:
  explicit Refinement(const RefineOptions &options)
      : options(options),
        cost(options.selection.profile, options.selection.target, options.selection.threads) {}

  /// Returns the candidate kernels for the operation; kernels requested by --kernels are first.
  /// Appends the reasons of providers that cannot implement it to `refusals`.
  std::vector<Candidate> candidates(mlir::Operation *op) const;
  std::vector<Candidate> candidates(mlir::Operation *op, std::string &refusals) const;
  void erase(mlir::Operation *op);
  bool isErased(mlir::Operation *op) const { return erased.contains(op); }

  const RefineOptions &options;
  const CostModel cost;

private:
  llvm::DenseSet<mlir::Operation *> erased;
};

/// Base class of rewrites that replace existing kernels of the program. The new kernels are
/// inserted next to the existing ones, so that their times can be compared. Either commit() or
/// drop() is then called.
class KernelAlternative {
public:
  virtual ~KernelAlternative() = default;
  /// Returns the estimated time that the alternative saves, in microseconds.
  virtual double savedTime() const = 0;
  /// Replaces the existing kernels by the alternative.
  virtual void commit(Refinement &refinement) = 0;
  /// Erases the alternative and keeps the existing kernels.
  virtual void drop() = 0;
};

/// Callback of the driver. Commits the change if it saves time, and drops it otherwise. Returns
/// true if the change was committed.
using Offer = llvm::function_ref<bool(KernelAlternative &)>;

class RefinePattern {
public:
  constexpr explicit RefinePattern(llvm::StringLiteral name) : name(name) {}
  virtual ~RefinePattern() = default;

  /// Returns true if the pattern may match at this fusion. The fusion has no candidates
  /// (readCandidates()) if no kernel supports it.
  virtual bool isAnchor(FusionOp fusion, const Refinement &refinement) const = 0;
  /// Builds alternatives for the anchors, which are in the order of the module, and passes each to
  /// `offer`. Fails if kernels for an alternative cannot be selected.
  virtual mlir::LogicalResult apply(llvm::ArrayRef<FusionOp> anchors, Refinement &refinement,
                                    Offer offer) const = 0;

  const llvm::StringLiteral name;
};

/// Base class of patterns that decide about each anchor before they visit the next one.
class AnchorPattern : public RefinePattern {
public:
  constexpr AnchorPattern(llvm::StringLiteral name, bool lastFirst = false)
      : RefinePattern(name), lastFirst(lastFirst) {}

  mlir::LogicalResult apply(llvm::ArrayRef<FusionOp> anchors, Refinement &refinement,
                            Offer offer) const final;
  /// Builds alternatives for `anchor` and passes each to `offer`, until one is committed.
  virtual void propose(FusionOp anchor, Refinement &refinement, Offer offer) const = 0;

  const bool lastFirst; ///< whether anchors are visited from the end of the module to its beginning
};

/// Returns all patterns, in the order in which each is applied to the whole module.
llvm::ArrayRef<const RefinePattern *> refinePatterns();

/// Applies all patterns to a module after kernel selection. Reports an error for each operation
/// that then has no kernel, and a warning for each that runs on a reference implementation.
mlir::LogicalResult refineKernels(mlir::ModuleOp module, const RefineOptions &options);

/// Returns true if the kernel that was selected for the fusion still supports it after some of its
/// operations are removed.
bool acceptsPartialBody(FusionOp fusion);
/// Returns the time of the selected kernel in microseconds, which an attribute of the operation
/// stores.
double chosenTime(mlir::Operation *op);

} // namespace dlc
#endif

//===- Refine.h - fusion after kernel selection ---------------------------===//
//
// A library's kernel may support more than it was chosen for: summing operands that it packs,
// computing an operand, or applying further ops to its result. Libraries differ in this, so these
// fusions are decided after kernel selection. A pattern builds an alternative next to the present
// program and estimates the time that it saves; the driver commits or drops it.
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
  /// Kernels requested by --kernels: all fusions that they support are made, regardless of cost.
  std::string kernels = {};
};

/// The module that is being changed.
class Refinement {
public:
  explicit Refinement(const RefineOptions &options)
      : options(options),
        cost(options.selection.profile, options.selection.target, options.selection.threads) {}

  /// Returns the candidates for the operation, those requested by name first.
  std::vector<Candidate> candidates(mlir::Operation *op) const;
  void erase(mlir::Operation *op);
  bool isErased(mlir::Operation *op) const { return erased.contains(op); }

  const RefineOptions &options;
  const CostModel cost;

private:
  llvm::DenseSet<mlir::Operation *> erased;
};

/// Alternative to some of the program's kernels, built next to them.
class Change {
public:
  virtual ~Change() = default;
  /// Returns the estimated time saved in microseconds.
  virtual double savedTime() const = 0;
  /// Replaces the kernels by the alternative.
  virtual void commit(Refinement &refinement) = 0;
  /// Erases the alternative.
  virtual void drop() = 0;
};

/// Commits the change if it saves time, and drops it otherwise. Returns true if it was committed.
using Offer = llvm::function_ref<bool(Change &)>;

class Pattern {
public:
  constexpr Pattern(llvm::StringLiteral name, bool lastFirst = false)
      : name(name), lastFirst(lastFirst) {}
  virtual ~Pattern() = default;

  /// Returns true if the pattern may match at this fusion.
  virtual bool isAnchor(FusionOp fusion, const Refinement &refinement) const = 0;
  /// Offers changes until one is committed.
  virtual void propose(FusionOp anchor, Refinement &refinement, Offer offer) const = 0;

  const llvm::StringLiteral name;
  const bool lastFirst; ///< whether to visit anchors from the end of the module
};

/// Returns the patterns in the order in which they are applied to the whole module.
llvm::ArrayRef<const Pattern *> refinePatterns();

/// Applies all patterns to a module whose kernels are selected.
void refineKernels(mlir::ModuleOp module, const RefineOptions &options);

/// Returns true if the kernel that was chosen for the fusion works without some of its operations.
bool acceptsPartialBody(FusionOp fusion);
/// Returns the time of the chosen candidate in microseconds, as stored on the operation.
double chosenTime(mlir::Operation *op);

} // namespace dlc
#endif

//===- Refine.h - what is joined once kernels are chosen ------------------===//
//
// A library's kernel may do more than it was chosen for: sum up what it packs, make an operand
// itself, go on with its result. Libraries differ in that, so that it is decided when kernels have
// been chosen: a pattern builds the other program beside the present one, says what is won, and the
// driver takes it or drops it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_REFINE_REFINE_H
#define DLC_CODEGEN_REFINE_REFINE_H

#include "codegen/providers/Provider.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

struct RefineOptions {
  Situation situation;
  /// Whose kernels --kernels asks for: what these can do they do, whatever it costs.
  std::string kernels = {};
};

/// The module under change.
class Refinement {
public:
  explicit Refinement(const RefineOptions &options)
      : options(options),
        cost(options.situation.profile, options.situation.target, options.situation.threads) {}

  /// Who can do it, those in front that were asked for by name.
  std::vector<Candidate> candidates(mlir::Operation *op) const;
  void erase(mlir::Operation *op);
  bool isErased(mlir::Operation *op) const { return erased.contains(op); }

  const RefineOptions &options;
  const CostModel cost;

private:
  llvm::DenseSet<mlir::Operation *> erased;
};

/// Another program in place of some kernels, built beside them.
class Change {
public:
  virtual ~Change() = default;
  /// Microseconds.
  virtual double won() const = 0;
  /// Puts it in their place.
  virtual void commit(Refinement &refinement) = 0;
  /// Takes away what was built.
  virtual void drop() = 0;
};

/// Takes the change where it wins something, and drops it otherwise; whether it was taken.
using Offer = llvm::function_ref<bool(Change &)>;

class Pattern {
public:
  constexpr Pattern(llvm::StringLiteral name, bool lastFirst = false)
      : name(name), lastFirst(lastFirst) {}
  virtual ~Pattern() = default;

  /// Whether something may start here.
  virtual bool isAnchor(FusionOp fusion, const Refinement &refinement) const = 0;
  /// Offers changes, until one is taken.
  virtual void propose(FusionOp anchor, Refinement &refinement, Offer offer) const = 0;

  const llvm::StringLiteral name;
  const bool lastFirst; ///< anchors from the end of the module on
};

/// In the order in which the whole module sees them.
llvm::ArrayRef<const Pattern *> refinePatterns();

/// Applies all patterns to a module whose kernels are chosen.
void refineKernels(mlir::ModuleOp module, const RefineOptions &options);

/// Whether the kernel that was chosen for the fusion can go without some of its operations.
bool canBeCut(FusionOp fusion);
/// Microseconds of the choice, as they were written.
double chosenTime(mlir::Operation *op);

} // namespace dlc
#endif

//===- VerifyLayout.cpp - verifies layouts other than row-major -----------===//
#include "passes/Devices.h"
#include "passes/Passes.h"
#include "passes/layout/Boundary.h"
#include "passes/layout/Tag.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace dlc {
namespace {

/// Checks that operands with the shape of the result have the result's layout, and that smaller
/// operands are row-major.
LogicalResult checkElementwise(Operation *op) {
  Value result = op->getResult(0);
  StringRef tag = layoutOf(result.getType());
  for (Value operand : op->getOperands()) {
    bool full = shapeOf(operand) == shapeOf(result);
    StringRef found = layoutOf(operand.getType());
    if (found != (full ? tag : StringRef()))
      return op->emitError() << "operands of the result's shape must have its layout, and smaller "
                                "operands must be plain: the result's is '"
                             << tag << "', one operand's '" << found
                             << "'; insert a dlc.reorder before the operation";
  }
  return success();
}

LogicalResult checkOpLayouts(Operation *op) {
  bool anyBlocked = false;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!layoutOf(type).empty()) {
      anyBlocked = true;
      auto tag = Tag::parse(layoutOf(type));
      bool isOrder = tag && tag->blockedDim < 0 && can(deviceOf(type), DLC_DEVICE_GPU_CODE);
      if (!isOrder && !can(deviceOf(type), DLC_DEVICE_HOST_CODE))
        return op->emitError() << "blocked layouts require a CPU device; found " << type
                               << "; insert a dlc.reorder before the transfer to the device";
    }
  if (auto view = dyn_cast<TransposedViewOp>(op);
      view &&
      !preservesMemoryOrder(typeOf(view.getX()), view.getPermutation(), typeOf(view.getY())))
    return view->emitError() << "a view must not move elements; found " << view.getX().getType()
                             << " to " << view.getY().getType()
                             << "; transpose with dlc.transpose and insert a dlc.reorder after it";
  if (!anyBlocked || op->hasTrait<AnyLayout>() ||
      (isa<YieldOp>(op) && isa<FusionOp>(op->getParentOp())))
    return success();
  if (isa<func::ReturnOp>(op) && llvm::all_of(op->getOpOperands(), mayReturnLayout))
    return success();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (StringRef tag = layoutOf(type); !Tag::parse(tag))
      return op->emitError() << "supports layouts with at most one blocked dimension; found '"
                             << tag << "'; insert a dlc.reorder before the operation";
  if (op->hasTrait<Elementwise>())
    return checkElementwise(op);
  if (isa<ConcatOp>(op)) {
    for (Value operand : op->getOperands())
      if (layoutOf(operand.getType()) != layoutOf(op->getResult(0).getType()))
        return op->emitError() << "all operands must have the result's layout; insert a "
                                  "dlc.reorder before the operation";
    return success();
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    if (reducesSpatialDims(reduce, typeOf(reduce.getX()).getRank()) &&
        layoutOf(reduce.getType()).empty())
      return success();
  if (auto slice = dyn_cast<SliceOp>(op)) {
    StringRef own = layoutOf(slice.getX().getType());
    if (own == layoutOf(slice.getY().getType()) && slicesAlongBlocks(slice, own))
      return success();
    auto tag = Tag::parse(layoutOf(slice.getX().getType()));
    if (tag && layoutOf(slice.getY().getType()).empty() &&
        slicesWholeUnits(slice, tag->blockedDim) &&
        hasSameMemoryOrder(shapeOf(slice.getY()), typeOf(slice.getX()).getRank(),
                           layoutOf(slice.getX().getType())))
      return success();
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    StringRef own = layoutOf(gather.getX().getType());
    if (own == layoutOf(gather.getY().getType()) && gathersBlocks(gather, own))
      return success();
  }
  if (auto stretch = dyn_cast<BroadcastOp>(op))
    if (hasSameMemoryOrder(shapeOf(stretch.getX()), typeOf(stretch.getY()).getRank(),
                           layoutOf(stretch.getY().getType())))
      return success();
  return op->emitError()
         << "supports only plain layouts; insert a dlc.reorder before the operation";
}

struct VerifyLayoutPass : PassWrapper<VerifyLayoutPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyLayoutPass)

  StringRef getArgument() const final { return "dlc-verify-layout"; }
  StringRef getDescription() const final {
    return "checks that only operations that support blocked layouts have operands or results in "
           "them";
  }

  void runOnOperation() final {
    bool ok = true;
    getOperation().walk([&](Operation *op) { ok &= succeeded(checkOpLayouts(op)); });
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

std::unique_ptr<Pass> createVerifyLayoutPass() { return std::make_unique<VerifyLayoutPass>(); }

} // namespace dlc

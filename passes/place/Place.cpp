//===- Place.cpp - puts a device on every tensor --------------------------===//
#include "ir/dlc/Dialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dlc {
namespace {

Type placed(Type type, OnAttr device) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return type;
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), device);
}

/// The same elements under a placed type; blobs are shared, never copied.
ElementsAttr placed(ElementsAttr value, OnAttr device) {
  auto type = cast<ShapedType>(placed(value.getShapedType(), device));
  if (type == value.getShapedType())
    return value;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  return {};
}

struct PlacePass : PassWrapper<PlacePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlacePass)

  PlacePass() = default;
  explicit PlacePass(std::string name) { device = std::move(name); }
  PlacePass(const PlacePass &other) : PassWrapper(other) { device = other.device.getValue(); }

  StringRef getArgument() const final { return "dlc-place"; }
  StringRef getDescription() const final { return "puts a device on every tensor without one"; }

  void runOnOperation() final {
    FailureOr<OnAttr> on = OnAttr::fromName(&getContext(), device);
    if (failed(on)) {
      getOperation().emitError("'")
          << device << "' is not a device; write cpu, cpu:1 or cuda:0, for example";
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](Operation *op) {
      for (Value value : op->getResults())
        value.setType(placed(value.getType(), *on));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(placed(argument.getType(), *on));
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        auto all = [&](TypeRange types) {
          return llvm::map_to_vector(types, [&](Type t) { return placed(t, *on); });
        };
        FunctionType type = function.getFunctionType();
        function.setType(
            FunctionType::get(&getContext(), all(type.getInputs()), all(type.getResults())));
      }
      if (auto constant = dyn_cast<ConstantOp>(op)) {
        ElementsAttr value = placed(constant.getValue(), *on);
        if (!value) {
          constant.emitError("cannot place this kind of constant; write dense or dense_resource");
          return WalkResult::interrupt();
        }
        constant.setValueAttr(value);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  Option<std::string> device{*this, "device", llvm::cl::desc("the device's name"),
                             llvm::cl::init("cpu")};
};

} // namespace

std::unique_ptr<Pass> createPlacePass(std::string device) {
  return std::make_unique<PlacePass>(std::move(device));
}

} // namespace dlc

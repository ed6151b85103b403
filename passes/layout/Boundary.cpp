//===- Boundary.cpp - layouts of a program's inputs and outputs -----------===//
#include "passes/layout/Boundary.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {

constexpr llvm::StringLiteral kAny = "any";

static bool isSupportedBoundaryLayout(RankedTensorType type, StringRef layout) {
  auto tag = Tag::parse(layout);
  return tag && type.hasStaticShape() && int64_t(tag->order.size()) == type.getRank() &&
         tag->blockedDim < type.getRank() && !hasPartialBlock(staticShape(type), layout);
}

LogicalResult applyArgumentLayouts(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    Attribute asked = function.getArgAttr(argument.getArgNumber(), kLayoutAttr);
    if (!asked)
      continue;
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto layout = dyn_cast<StringAttr>(asked);
    if (!type || !layout || !can(deviceOf(type), DLC_DEVICE_HOST_CODE) ||
        !isSupportedBoundaryLayout(type, layout.getValue()))
      return function.emitError()
             << "`dlc.layout` of argument " << argument.getArgNumber()
             << ": required: a layout without padding, of a static tensor on a CPU device; found "
             << asked << " for " << argument.getType()
             << "; remove it if the elements are in row-major order";
    argument.setType(withLayout(type, normalizeTag(layout.getValue())));
  }
  return success();
}

bool hasFreeResultLayout(OpOperand &returned) {
  auto function = dyn_cast<func::FuncOp>(returned.getOwner()->getParentOp());
  auto asked =
      function ? function.getResultAttrOfType<StringAttr>(returned.getOperandNumber(), kLayoutAttr)
               : StringAttr();
  return asked && asked.getValue() == kAny;
}

bool mayReturnLayout(OpOperand &returned) {
  auto type = dyn_cast<RankedTensorType>(returned.get().getType());
  return !type || layoutOf(type).empty() ||
         (hasFreeResultLayout(returned) && can(deviceOf(type), DLC_DEVICE_HOST_CODE) &&
          isSupportedBoundaryLayout(type, layoutOf(type)));
}

void updateFunctionType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setFunctionType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                             body.getTerminator()->getOperandTypes()));
}

} // namespace dlc

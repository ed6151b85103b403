//===- Specialize.cpp - static shapes for a module with dynamic ones ------------===//
#include "frontend/mlir/Specialize.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace dlc {
namespace {

bool isDynamicTensorType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// Infers the result types of an operation again after its operands have become static.
LogicalResult reinferTypes(Operation *op) {
  auto infer = dyn_cast<InferTypeOpInterface>(op);
  if (!infer) {
    // If the result of a reshape has a single dynamic dimension, its size is computed from the
    // number of elements.
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape || isDynamicTensorType(reshape.getX().getType()))
      return success();
    auto type = cast<RankedTensorType>(reshape.getY().getType());
    if (type.getNumDynamicDims() != 1)
      return success();
    SmallVector<int64_t> shape(type.getShape());
    int64_t rest = 1, *open = nullptr;
    for (int64_t &d : shape) {
      if (ShapedType::isDynamic(d))
        open = &d;
      else
        rest *= d;
    }
    int64_t all = cast<RankedTensorType>(reshape.getX().getType()).getNumElements();
    if (rest == 0 || all % rest != 0)
      return success();
    *open = all / rest;
    reshape.getY().setType(type.clone(shape));
    return success();
  }
  SmallVector<Type> types;
  if (failed(infer.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                    op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
                                    op->getRegions(), types)))
    return op->emitError(
        "cannot be applied to operands of these shapes, which follow from the shapes "
        "of the inputs; give inputs of other shapes");
  for (auto [result, type] : llvm::zip(op->getResults(), types))
    result.setType(type);
  return success();
}

} // namespace

LogicalResult specializeShapes(ModuleOp module,
                               const std::map<std::string, std::vector<int64_t>> &shapes) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || !llvm::any_of(function.getArgumentTypes(), isDynamicTensorType))
    return success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto given = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    auto found = shapes.find(given ? given.str() : "input" + std::to_string(i));
    auto type = cast<RankedTensorType>(function.getArgument(i).getType());
    if (found != shapes.end())
      function.getArgument(i).setType(type.clone(found->second));
  }
  WalkResult walked = function.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
    bool open = llvm::any_of(op->getResultTypes(), isDynamicTensorType);
    return open && failed(reinferTypes(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  Operation *end = function.getBody().front().getTerminator();
  function.setFunctionType(FunctionType::get(module.getContext(),
                                             function.getBody().getArgumentTypes(),
                                             TypeRange(end->getOperandTypes())));
  return verify(module);
}

} // namespace dlc

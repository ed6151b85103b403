//===- Apply.cpp - applies a placement: types and transfers ---------------===//
#include "passes/place/Apply.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/OpNames.h"
#include "passes/TensorBuilder.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dlc::place {
namespace {

Type assignDevice(Type type, OnAttr device) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !getPlace(tensor) ? withPlace(tensor, device) : type;
}

/// Returns the same type on another device, with the same layout.
RankedTensorType changeDevice(RankedTensorType type, OnAttr device) {
  return withPlace(type, device.withLayout(layoutOf(type)));
}

/// Returns an attribute with the same elements and another type, or null if the kind of attribute
/// is not supported. Blobs are shared, never copied.
ElementsAttr changeElementsType(ElementsAttr value, ShapedType type) {
  if (type == value.getShapedType())
    return value;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  return {};
}

class PlacementApplier {
public:
  PlacementApplier(FunctionPlacement &placement, const Labels &at, StringRef forbidden)
      : placement(placement), at(at), forbidden(forbidden),
        block(placement.function.getBody().front()) {}

  FailureOr<std::vector<InsertedTransfer>> run() {
    for (BlockArgument argument : block.getArguments())
      place(argument, inputDevice(argument.getArgNumber()));
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (isa<ConstantOp>(op))
        continue;
      // Operations that have no node in the placement problem were inserted by this loop: copies of
      // constants, and transfers.
      auto node = placement.nodes.find(&op);
      if (node == placement.nodes.end())
        continue;
      OnAttr device = placement.deviceAt(at, node->second);
      placeWhole(&op, device);
      if (isa<TransferOp>(op))
        continue;
      forEachUse(&op, block, [&](OpOperand &operand) { bring(operand, device, &op); });
    }
    Operation *end = block.getTerminator();
    for (OpOperand &operand : end->getOpOperands())
      bring(operand, placement.deviceAt(at, placement.outputs[operand.getOperandNumber()]), end);
    // Constants without users are placed on the first device.
    for (Operation &op : block)
      if (auto constant = dyn_cast<ConstantOp>(op); constant && !deviceOf(constant.getType()))
        placeConstant(constant, placement.devices.front());
    updateFunction();
    if (isWrong)
      return failure();
    return std::move(crossings);
  }

private:
  OnAttr inputDevice(unsigned argument) const {
    return placement.deviceAt(at, placement.inputs[argument]);
  }

  void place(Value value, OnAttr device) { value.setType(assignDevice(value.getType(), device)); }

  void placeConstant(ConstantOp constant, OnAttr device) {
    ElementsAttr value = changeElementsType(
        constant.getValue(), cast<ShapedType>(assignDevice(constant.getType(), device)));
    if (!value) {
      constant.emitError("cannot place a constant of this attribute type on a device; required: "
                         "dense or dense_resource");
      isWrong = true;
      return;
    }
    constant.setValueAttr(value);
    place(constant.getResult(), device);
  }

  /// Sets the device of the operation's results and of all values in its regions.
  void placeWhole(Operation *op, OnAttr device) {
    op->walk([&](Operation *inner) {
      if (auto constant = dyn_cast<ConstantOp>(inner))
        return placeConstant(constant, device);
      for (Value value : inner->getResults())
        place(value, device);
      for (Region &region : inner->getRegions())
        for (Block &inside : region)
          for (BlockArgument argument : inside.getArguments())
            place(argument, device);
    });
  }

  void bring(OpOperand &operand, OnAttr device, Operation *user) {
    Value value = operand.get();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    OnAttr own = deviceOf(type);
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!own)
      placeConstant(constant, own = device);
    if (own.sameDevice(device) || isWrong)
      return;
    // If the types in the input program already contradict each other, no transfer is inserted, and
    // the verifier reports the conflict.
    if (type.getRank() > 0 && placement.placedBefore.contains(value) &&
        placement.fixedByType.contains(user))
      return;
    Value &moved = copies[{value, device}];
    if (!moved)
      moved = constant ? copyConstant(constant, device) : transfer(value, device, user);
    operand.set(moved);
  }

  Value copyConstant(ConstantOp constant, OnAttr device) {
    OpBuilder builder(constant->getContext());
    builder.setInsertionPointAfter(constant);
    auto copy = cast<ConstantOp>(builder.clone(*constant));
    RankedTensorType type = changeDevice(cast<RankedTensorType>(constant.getType()), device);
    ElementsAttr value = changeElementsType(constant.getValue(), type);
    if (!value) {
      constant.emitError("cannot copy a constant of this attribute type to a device; required: "
                         "dense or dense_resource");
      isWrong = true;
      return constant.getResult();
    }
    copy.setValueAttr(value);
    copy.getResult().setType(type);
    return copy.getResult();
  }

  Value transfer(Value value, OnAttr device, Operation *user) {
    auto type = cast<RankedTensorType>(value.getType());
    // Transfers of rank-0 tensors have no cost, and are neither reported nor checked.
    if (type.getRank() > 0) {
      crossings.push_back({nameOf(value), nameOf(user), deviceOf(type), device, tensorBytes(type)});
      checkAllowed(value, crossings.back(), user);
    }
    OpBuilder builder(user->getContext());
    builder.setInsertionPointAfterValue(value);
    return TransferOp::create(builder, value.getLoc(), changeDevice(type, device), value)
        .getResult();
  }

  void checkAllowed(Value value, const InsertedTransfer &crossing, Operation *user) {
    if (forbidden.empty())
      return;
    SmallVector<StringRef> names{StringRef(crossing.value).trim('\''),
                                 StringRef(crossing.user).trim('\'')};
    collectLocationNames(value.getLoc(), names);
    collectLocationNames(user->getLoc(), names);
    if (llvm::none_of(names, [&](StringRef name) { return matchesPattern(forbidden, name); }))
      return;
    isWrong = true;
    bool isReturn = user == block.getTerminator();
    SmallVector<StringRef> own;
    collectLocationNames(user->getLoc(), own);
    std::string mend = (isReturn ? "output:NAME" : own.empty() ? "NAME" : own.front()).str();
    InFlightDiagnostic error = emitError(value.getLoc());
    error << "no transfer is allowed here (--forbid-transfers), but " << crossing.value << " ("
          << value.getType() << ", " << crossing.bytes << " bytes) is on "
          << crossing.from.getDeviceName() << " and used on " << crossing.to.getDeviceName()
          << "; put both on one device (--place " << mend << "=" << crossing.from.getDeviceName()
          << "), or insert a dlc.transfer";
    error.attachNote(user->getLoc()) << (isReturn ? "returned" : "used by " + crossing.user);
  }

  void updateFunction() {
    func::FuncOp function = placement.function;
    function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
    // The device attributes are removed, because the types now have the devices.
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, StringAttr::get(function.getContext(), kDeviceAttr));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, StringAttr::get(function.getContext(), kDeviceAttr));
    function.walk([&](Operation *op) { op->removeAttr(kDeviceAttr); });
  }

  FunctionPlacement &placement;
  const Labels &at;
  StringRef forbidden;
  Block &block;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> copies;
  std::vector<InsertedTransfer> crossings;
  bool isWrong = false;
};

} // namespace

FailureOr<std::vector<InsertedTransfer>> applyPlacement(FunctionPlacement &placement,
                                                        const Labels &at, StringRef forbidden) {
  return PlacementApplier(placement, at, forbidden).run();
}

} // namespace dlc::place

//===- Devices.cpp - devices of tensors: placed types, transfers, rematerialized constants --===//
#include "frontend/trace/State.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::trace {

namespace {
RankedTensorType withDevice(Type type, OnAttr device) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), device);
}

OnAttr getDevice(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast_or_null<OnAttr>(type.getEncoding()) : OnAttr();
}

bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getRank() == 0;
}
} // namespace

void placeConstant(ConstantOp constant, OnAttr device) {
  if (!device)
    return;
  RankedTensorType type = withDevice(constant.getType(), device);
  ElementsAttr value = constant.getValue();
  // Changes the type of the constant. Its elements or its blob are shared, not copied.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    constant.setValueAttr(DenseResourceElementsAttr::get(type, resource.getRawHandle()));
  else
    constant.setValueAttr(cast<DenseElementsAttr>(value).reshape(type));
  constant.getResult().setType(type);
}

OnAttr State::placeOf(const Device &device) const {
  return *OnAttr::fromName(context, device.name());
}

Type State::placed(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return onHome && tensor && !tensor.getEncoding() ? withDevice(type, onHome) : type;
}

void State::usePlaces() {
  if (onHome)
    return;
  onHome = placeOf(homeDevice);
  auto place = [&](Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return placeConstant(constant, onHome);
    for (Value result : op->getResults())
      result.setType(placed(result.getType()));
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        argument.setType(placed(argument.getType()));
  };
  // Walks the blocks under construction instead of the function, because branches and loops that
  // are being traced are not part of the function yet.
  for (Block *block : blocks) {
    for (Value argument : block->getArguments())
      argument.setType(placed(argument.getType()));
    block->walk([&](Operation *op) { place(op); });
  }
}

void State::putOn(Value value, const Device &device) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return placeConstant(constant, placeOf(device));
  value.setType(withDevice(value.getType(), placeOf(device)));
}

Value State::moved(Value value, OnAttr device, mlir::Location location) {
  if (getDevice(value).sameDevice(device))
    return value;
  return TransferOp::create(builder, location, withDevice(value.getType(), device), value)
      .getResult();
}

bool State::isParameter(Value value) const {
  return llvm::any_of(parameterValues, [&](const auto &each) { return each.second == value; });
}

/// Returns whether the value is computed only from constants, random numbers and scalars. No input
/// or parameter then determines its device.
bool State::isFree(Value value) {
  if (isScalar(value))
    return true;
  if (auto known = knownFree.find(value); known != knownFree.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool isFree = op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
                !isa<TransferOp, GradientOp>(op) && !isParameter(value) &&
                llvm::all_of(op->getOperands(), [&](Value each) { return this->isFree(each); });
  knownFree[value] = isFree;
  return isFree;
}

/// Inserts the copy of an operation next to the original, so that the copy dominates all uses that
/// the original dominates.
Value State::remade(Value value, OnAttr device) {
  if (!isFree(value))
    return {};
  if (getDevice(value).sameDevice(device))
    return value;
  if (Value known = remadeValues.lookup({value, device}))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Operation *op = value.getDefiningOp();
  Value made;
  if (isScalar(value)) {
    made = moved(value, device, value.getLoc());
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, remade(operand, device));
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op, mapping);
    if (auto constant = dyn_cast<ConstantOp>(copy))
      placeConstant(constant, device);
    made = copy->getResult(0);
    made.setType(withDevice(made.getType(), device));
  }
  remadeValues[{value, device}] = made;
  knownFree[made] = true;
  return made;
}

std::string State::describe(Value value) const {
  if (auto name = dyn_cast<NameLoc>(value.getLoc()); name && isParameter(value))
    return "'" + name.getName().str() + "'";
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != blocks.front())
      return "a value carried by a loop";
    if (number < inputNames.size())
      return "'" + inputNames[number] + "'";
    for (const auto &[position, name] : lateArguments)
      if (position == number)
        return "'" + name + "'";
  }
  Operation *op = value.getDefiningOp();
  if (auto transfer = dyn_cast_or_null<TransferOp>(op))
    return describe(transfer.getX()) + " moved";
  return op ? "the result of " + op->getName().stripDialect().str() : "a tensor";
}

SmallVector<Value> ApiCall::together(ValueRange operands, SmallVectorImpl<Type> &types) {
  SmallVector<Value> result(operands);
  if (!active->hasPlaces())
    return result;
  // The operand that determines the device: the first operand that cannot be recreated on another
  // device, otherwise the first that is not a scalar, otherwise the first.
  Value leader;
  auto look = [&](auto &&counts) {
    for (Value operand : result)
      if (!leader && counts(operand))
        leader = operand;
  };
  look([&](Value each) { return !isScalar(each) && !active->remade(each, getDevice(each)); });
  look([](Value each) { return !isScalar(each); });
  look([](Value) { return true; });
  OnAttr device = leader ? getDevice(leader) : active->placeOf(active->home());
  for (Value &operand : result) {
    OnAttr own = getDevice(operand);
    if (isScalar(operand) || own.sameDevice(device))
      continue;
    if (Value there = active->remade(operand, device)) {
      operand = there;
      continue;
    }
    // Selects the operand that the error's hint suggests to transfer: a computed operand rather
    // than a parameter.
    bool first = active->isParameter(operand) && !active->isParameter(leader);
    std::string name = active->describe(first ? leader : operand);
    bool quoted = name.front() == '\'' && name.back() == '\'';
    fail(active->describe(leader), " is on ", device.getDeviceName(), ", ",
         active->describe(operand), " on ", own.getDeviceName(), "; move one",
         quoted ? ": " + name.substr(1, name.size() - 2) : " with ", ".to(\"",
         (first ? own : device).getDeviceName(), "\")");
  }
  for (Type &type : types)
    if (auto tensor = cast<RankedTensorType>(type); !tensor.getEncoding() || leader)
      type = withDevice(type, device);
  return result;
}

Device Tensor::device() const {
  State *owner = State::ownerOf(*this);
  if (!value)
    throw Error("this dlc::trace::Tensor has no value, and so no device; assign it first");
  OnAttr on = getDevice(State::valueOf(*this));
  return on ? Device(on.getDeviceName()) : owner->home();
}

Tensor Tensor::to(Device device, Location location) const {
  Operand operand(*this, location);
  ApiCall call("to", {&operand});
  call.value(operand);
  call.state().usePlaces();
  return call.tensor(
      call.state().moved(call.value(operand), call.state().placeOf(device), call.loc()));
}

} // namespace dlc::trace

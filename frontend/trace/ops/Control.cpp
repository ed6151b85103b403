//===- Control.cpp - branches and loops -----------------------------------===//
#include "frontend/trace/State.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace dlc::trace {

namespace {
/// Traces a function into a new region that ends with dlc.yield.
std::unique_ptr<Region> region(ApiCall &call, TypeRange arguments,
                               llvm::function_ref<std::vector<Tensor>(Block &)> trace,
                               SmallVectorImpl<Type> &types) {
  State &state = call.state();
  auto region = std::make_unique<Region>();
  Block &block = region->emplaceBlock();
  for (Type type : arguments)
    block.addArgument(type, call.loc());
  OpBuilder::InsertionGuard guard(state.builder);
  state.builder.setInsertionPointToStart(&block);
  state.blocks.push_back(&block);
  // Operations inside the region get their own source lines instead of that of the cond() or
  // repeat() call.
  std::vector<Location> locations = std::move(state.locations);
  state.locations.clear();
  auto restore = llvm::scope_exit([&] {
    state.blocks.pop_back();
    state.locations = std::move(locations);
  });
  SmallVector<Value> yielded;
  for (const Tensor &tensor : trace(block))
    yielded.push_back(call.value(Operand(tensor)));
  for (Value value : yielded)
    types.push_back(value.getType());
  YieldOp::create(state.builder, call.loc(), yielded);
  return region;
}

std::string formatTypes(ArrayRef<Type> types) {
  std::string text = "(";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream);
  stream << ")";
  return text;
}

std::vector<Tensor> createCheckedOperation(ApiCall &call, OperationState &opState) {
  DiagnosticCapture capture(call.context());
  Operation *op = call.builder().create(opState);
  if (failed(op->getName().verifyInvariants(op))) {
    std::string text = capture.text;
    op->erase();
    call.raise(text);
  }
  std::vector<Tensor> results;
  for (Value result : op->getResults())
    results.push_back(call.tensor(result));
  return results;
}
} // namespace

std::vector<Tensor> cond(const Operand &condition, const std::function<std::vector<Tensor>()> &then,
                         const std::function<std::vector<Tensor>()> &otherwise) {
  ApiCall call("cond", {&condition});
  Value value = call.value(condition);
  SmallVector<Type> thenTypes, elseTypes;
  auto thenRegion = region(
      call, {}, [&](Block &) { return then(); }, thenTypes);
  auto elseRegion = region(
      call, {}, [&](Block &) { return otherwise(); }, elseTypes);
  for (SmallVector<Type> *types : {&thenTypes, &elseTypes})
    for (Type &type : *types)
      type = call.state().placed(type);
  if (thenTypes != elseTypes)
    call.fail("both branches must return tensors of the same types; found ", formatTypes(thenTypes),
              " and ", formatTypes(elseTypes), "; cast or reshape one");
  OperationState opState(call.loc(), IfOp::getOperationName());
  opState.addOperands(value);
  opState.addTypes(thenTypes);
  opState.addRegion(std::move(thenRegion));
  opState.addRegion(std::move(elseRegion));
  return createCheckedOperation(call, opState);
}

std::vector<Tensor>
repeat(const Operand &trips, const Operands &carried,
       const std::function<std::vector<Tensor>(Tensor, std::vector<Tensor>)> &body) {
  ApiCall call("repeat", {&trips});
  call.numbersLike({}); // numbers become i64 constants
  SmallVector<Value> operands = {call.value(trips)};
  auto count = RankedTensorType::get({}, call.builder().getI64Type());
  auto trip = cast<RankedTensorType>(operands[0].getType());
  if (trip.getRank() != 0 || trip.getElementType() != count.getElementType())
    call.fail("the trip count must be a number or a 0-d tensor of i64; found ", trip);
  SmallVector<Type> arguments = {trip}, types, yielded;
  for (const Operand &each : carried) {
    operands.push_back(call.value(each));
    types.push_back(operands.back().getType());
  }
  llvm::append_range(arguments, types);
  auto bodyRegion = region(
      call, arguments,
      [&](Block &block) {
        std::vector<Tensor> values;
        for (Value value : block.getArguments().drop_front())
          values.push_back(call.tensor(value));
        return body(call.tensor(block.getArgument(0)), values);
      },
      yielded);
  for (SmallVector<Type> *each : {&types, &yielded})
    for (Type &type : *each)
      type = call.state().placed(type);
  if (types != yielded)
    call.fail("the body must return values of the carried types; found ", formatTypes(yielded),
              " for ", formatTypes(types), "; cast or reshape the returned values");
  OperationState opState(call.loc(), LoopOp::getOperationName());
  opState.addOperands(operands);
  opState.addTypes(types);
  opState.getOrAddProperties<LoopOp::Properties>().operandSegmentSizes = {1, 0,
                                                                          int32_t(types.size())};
  opState.addRegion(std::move(bodyRegion));
  return createCheckedOperation(call, opState);
}

} // namespace dlc::trace

//===- Lower.cpp - lowers tensors to buffers and operations to commands ---===//
#include "codegen/lower/Lower.h"

#include "codegen/lower/Lowering.h"
#include "codegen/lower/Views.h"
#include "codegen/lower/streams/Collectives.h"
#include "codegen/lower/streams/ConcurrentLoops.h"
#include "codegen/lower/streams/Streams.h"
#include "codegen/machine/Profiles.h"
#include "codegen/providers/Provider.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/analysis/StepSlice.h"

using namespace mlir;

namespace dlc::lower {

void Lowering::createProgram(func::FuncOp main, ArrayRef<ProgramState> states) {
  SmallVector<Attribute> inputs, outputs, kept;
  for (const ProgramState &state : states)
    kept.push_back(describeState(main, state));
  for (BlockArgument argument : main.getArguments()) {
    if (main.getArgAttr(argument.getArgNumber(), kStateAttr))
      continue;
    auto info = describe(main.getArgAttrDict(argument.getArgNumber()), argument.getType(), "input",
                         argument.getArgNumber());
    if (auto value = main.getArgAttr(argument.getArgNumber(), kValueAttr)) {
      auto list = llvm::to_vector(info.getValue());
      list.push_back(b.getNamedAttr("value", value));
      info = b.getDictionaryAttr(list);
    }
    inputs.push_back(info);
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    if (!main.getResultAttr(i, kStateAttr))
      outputs.push_back(describeOutput(main, unsigned(i), type));
  b.setInsertionPoint(main);
  program = exec::ProgramOp::create(b, main.getLoc(), "main", b.getArrayAttr(inputs),
                                    b.getArrayAttr(outputs),
                                    kept.empty() ? ArrayAttr() : b.getArrayAttr(kept),
                                    IntegerAttr(), ArrayAttr(), DictionaryAttr());
  Block *commands = new Block;
  program.getBody().push_back(commands);
  b.setInsertionPointToStart(commands);
}

SmallVector<Value> Lowering::createCallerBuffers(func::FuncOp main) {
  int64_t nextInput = 0;
  for (BlockArgument argument : main.getArguments()) {
    auto type = bufferType(argument);
    if (!main.getArgAttr(argument.getArgNumber(), kStateAttr))
      buffers[argument] = exec::InputOp::create(b, argument.getLoc(), type, nextInput++);
  }
  SmallVector<Value> outputBuffers;
  int64_t nextOutput = 0;
  for (auto [i, value] : llvm::enumerate(main.front().getTerminator()->getOperands())) {
    auto type = bufferType(value);
    bool isState = bool(main.getResultAttr(i, kStateAttr));
    outputBuffers.push_back(
        isState ? Value()
                : Value(exec::OutputOp::create(b, value.getLoc(), type, nextOutput++).getBuffer()));
  }
  return outputBuffers;
}

bool Lowering::placeOutput(Value value, Value buffer, ArrayRef<ProgramState> states,
                           const OldValues &old) {
  if (auto part = old.find(value)) {
    // The output is an old value of a state: it is copied at the beginning, before any command
    // overwrites the state.
    copyOld(*part, states, value, buffer);
    return true;
  }
  return claim(value, buffer, 0);
}

LogicalResult Lowering::run() {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError("a model module must have a function @main");
  Block &body = main.getBody().front();
  SmallVector<ProgramState> states = collectStates(main);
  OldValues old(states, body);
  SmallVector<StateUpdatePlan> updates = orderUpdates(main, states, old, options);
  createProgram(main, states);
  auto results = body.getTerminator()->getOperands();
  SmallVector<Value> outputBuffers = createCallerBuffers(main);
  prepareStates(states, updates);
  llvm::SmallBitVector done(results.size());
  for (auto [i, value] : llvm::enumerate(results))
    if (!outputBuffers[i] || placeOutput(value, outputBuffers[i], states, old))
      done.set(i);
  std::vector<Value> saved(states.size());
  for (auto [s, update] : llvm::enumerate(updates)) {
    if (!update.saved)
      continue;
    device = getTypeDeviceName(states[s].old.getType());
    saved[s] = allocate(update.value.getLoc(), storageBytes(tensorTypeOf(update.value)));
    copyOld(*old.find(update.value), states, update.value, saved[s]);
  }
  SmallVector<unsigned> turns = llvm::to_vector(llvm::seq<unsigned>(0, updates.size()));
  llvm::sort(turns, [&](unsigned a, unsigned b) { return updates[a].turn < updates[b].turn; });
  claimParts(body);
  for (Operation &op : body) {
    for (unsigned s : turns)
      if (const StateUpdatePlan &update = updates[s]; update.copiedBefore == &op)
        copy(update.value.getLoc(), update.saved ? saved[s] : home(update.value), newStates[s],
             storageBytes(tensorTypeOf(states[s].old)));
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(command(op)))
      return failure();
  }
  for (auto [i, value] : llvm::enumerate(results))
    if (!done[i])
      copy(body.getTerminator()->getLoc(), home(value), outputBuffers[i],
           storageBytes(tensorTypeOf(value)));
  main.erase();
  makeCollectivesInPlace(program);
  assignStreams(program);
  const Profile &profile =
      chooseProfile(ProfileChoice{options.profile, options.cacheDir.value_or("")}, target);
  markConcurrentLoops(program, CostModel(profile, target, options.threads));
  return success();
}

DictionaryAttr Lowering::describe(DictionaryAttr attrs, Type type, StringRef word, size_t i) {
  Attribute name = attrs ? attrs.get(kNameAttr) : Attribute();
  if (!name)
    name = b.getStringAttr(word + Twine(i));
  if (auto packed = attrs ? attrs.getAs<TypeAttr>(kPackedAttr) : TypeAttr()) {
    auto tensor = cast<RankedTensorType>(packed.getValue());
    type = RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                                 cast<RankedTensorType>(type).getEncoding());
  }
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", name), b.getNamedAttr("type", TypeAttr::get(type))});
}

DictionaryAttr Lowering::describeOutput(func::FuncOp main, unsigned i, Type type) {
  DictionaryAttr described = describe(main.getResultAttrDict(i), type, "output", i);
  auto counted = main.getResultAttrOfType<DenseI64ArrayAttr>(i, kCountedAttr);
  if (!counted)
    return described;
  int64_t counter = llvm::count_if(llvm::seq<unsigned>(0, unsigned(counted[1])),
                                   [&](unsigned r) { return !main.getResultAttr(r, kStateAttr); });
  auto list = llvm::to_vector(described.getValue());
  list.push_back(b.getNamedAttr("counted", b.getDenseI64ArrayAttr({counted[0], counter})));
  return b.getDictionaryAttr(list);
}

DictionaryAttr Lowering::describeState(func::FuncOp main, const ProgramState &state) {
  unsigned number = state.old.getArgNumber();
  auto list = llvm::to_vector(
      describe(main.getArgAttrDict(number), state.old.getType(), "state", number).getValue());
  if (main.getArgAttr(number, kParameterAttr))
    list.push_back(b.getNamedAttr("parameter", b.getUnitAttr()));
  if (Attribute shares = main.getArgAttr(number, kSharesAttr))
    list.push_back(b.getNamedAttr("shares", shares));
  if (auto part = main.getArgAttr(number, kPartAttr))
    list.push_back(b.getNamedAttr("part", part));
  auto init = main.getArgAttrOfType<ElementsAttr>(number, kInitAttr);
  if (init && !isZero(init))
    list.push_back(b.getNamedAttr("init", init));
  return b.getDictionaryAttr(list);
}

bool Lowering::isZero(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  return dense && dense.isSplat() && !dense.getRawData().empty() &&
         llvm::all_of(dense.getRawData(), [](char c) { return c == 0; });
}

void Lowering::prepareStates(ArrayRef<ProgramState> states, ArrayRef<StateUpdatePlan> updates) {
  for (auto [s, state] : llvm::enumerate(states)) {
    auto type = bufferType(state.old);
    Location loc = state.old.getLoc();
    buffers[state.old] = exec::StateOp::create(b, loc, type, s, false);
    const StateUpdatePlan &update = updates[s];
    newStates.push_back(update.kind == StateUpdatePlan::Kind::None
                            ? Value()
                            : Value(exec::StateOp::create(b, loc, type, s, true).getBuffer()));
    if (update.kind == StateUpdatePlan::Kind::Direct && !claim(update.value, newStates[s], 0))
      llvm_unreachable("a new value that is already stored in another buffer");
  }
}

void Lowering::copyOld(OldValuePart part, ArrayRef<ProgramState> states, Value value, Value to) {
  int64_t bytes = storageBytes(tensorTypeOf(value));
  copy(value.getLoc(), view(value.getLoc(), buffers[states[part.state].old], part.offset, bytes),
       to, bytes);
}

bool Lowering::claim(Value value, Value parent, int64_t offset) {
  Operation *op = value.getDefiningOp();
  if (!op || destinations.count(value) || isa<ConstantOp>(op))
    return false;
  if (isa<ReshapeOp, TransposedViewOp>(op) || isReversedLoopOutput(op)) {
    if (!claim(op->getOperand(0), parent, offset))
      return false;
    destinations[value] = {parent, offset};
    return true;
  }
  if (isa<SliceOp>(op) || (isa<TransferOp>(op) && !crossesDevices(op)))
    return false;
  // A command of another device cannot write to the parent's buffer. Its value is computed in a
  // buffer of its own device and then copied.
  if (getCommandDevice(op) != cast<exec::BufferType>(parent.getType()).getDevice())
    return false;
  destinations[value] = {parent, offset};
  return true;
}

std::optional<std::pair<Value, int64_t>> Lowering::placeOfAll(ConcatOp concat) {
  std::optional<std::pair<Value, int64_t>> first;
  int64_t offset = 0;
  for (Value part : concat.getXs()) {
    Operation *maker = part.getDefiningOp();
    auto found = destinations.find(part);
    if (found == destinations.end() || !maker || maker->getBlock() != concat->getBlock())
      return std::nullopt;
    if (!first)
      first = found->second;
    if (found->second != std::pair(first->first, first->second + offset))
      return std::nullopt;
    offset += storageBytes(tensorTypeOf(part));
  }
  return first;
}

void Lowering::claimParts(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    for (Region &region : op.getRegions())
      if (!isa<FusionOp>(op))
        claimParts(region.front());
    auto concat = dyn_cast<ConcatOp>(op);
    if (!concat || !isContiguousConcat(concat))
      continue;
    auto found = destinations.find(concat.getY());
    // Buffer and offset of the concatenation's result. A new buffer is allocated only for a
    // concatenation in the body of @main, at the beginning of the program. Concatenations in
    // branches and loops get their buffers when they are lowered.
    std::pair<Value, int64_t> whole;
    if (found != destinations.end()) {
      whole = found->second;
    } else if (auto there = placeOfAll(concat)) {
      destinations[concat.getY()] = *there;
      for (unsigned i : llvm::seq<unsigned>(concat.getXs().size()))
        placed.insert({&op, i});
      continue;
    } else {
      OpBuilder::InsertionGuard guard(b);
      if (&block != &block.getParentOp()->getRegion(0).front() ||
          !isa<func::FuncOp>(block.getParentOp()))
        continue;
      device = getCommandDevice(&op);
      whole = {allocate(op.getLoc(), storageBytes(tensorTypeOf(concat.getY()))), 0};
      destinations[concat.getY()] = whole;
    }
    int64_t offset = whole.second;
    for (auto [i, part] : llvm::enumerate(concat.getXs())) {
      Operation *def = part.getDefiningOp();
      if (def && def->getBlock() == &block && claim(part, whole.first, offset))
        placed.insert({&op, i});
      offset += storageBytes(tensorTypeOf(part));
    }
  }
}

Value Lowering::view(Location loc, Value buffer, int64_t offset, int64_t bytes, int64_t step) {
  if (offset == 0 && step == 0 && cast<exec::BufferType>(buffer.getType()).getBytes() == bytes)
    return buffer;
  // A view of a view is created as a view of the whole buffer.
  if (auto inner = buffer.getDefiningOp<exec::ViewOp>())
    return view(loc, inner.getSource(), int64_t(inner.getOffset()) + offset, bytes,
                int64_t(inner.getStep()) + step);
  auto type = exec::BufferType::get(b.getContext(), bytes,
                                    cast<exec::BufferType>(buffer.getType()).getDevice());
  return exec::ViewOp::create(b, loc, type, buffer, offset, step);
}

exec::BufferType Lowering::bufferType(Value value) {
  return exec::BufferType::get(b.getContext(), storageBytes(tensorTypeOf(value)),
                               getTypeDeviceName(value.getType()));
}

Value Lowering::allocate(Location loc, int64_t bytes) {
  return exec::AllocOp::create(b, loc, exec::BufferType::get(b.getContext(), bytes, device),
                               IntegerAttr());
}

void Lowering::copy(Location loc, Value from, Value to, int64_t bytes) {
  if (from != to && bytes > 0)
    exec::CopyOp::create(b, loc, from, to, bytes);
}

Value Lowering::resultBuffer(Value value) {
  int64_t bytes = storageBytes(tensorTypeOf(value));
  auto found = destinations.find(value);
  Value buffer = found == destinations.end()
                     ? allocate(value.getLoc(), bytes)
                     : view(value.getLoc(), found->second.first, found->second.second, bytes);
  buffers[value] = buffer;
  return buffer;
}

Value Lowering::bufferOf(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constantOn(constant, device);
  Value buffer = home(value);
  if (cast<exec::BufferType>(buffer.getType()).getDevice() == device)
    return buffer;
  Value &there = moved[{buffer, b.getStringAttr(device)}];
  if (there)
    return there;
  // A value from outside of a loop or branch does not change in it. The value is therefore copied
  // to the other device before the outermost loop or branch.
  OpBuilder::InsertionGuard guard(b);
  if (outermost)
    b.setInsertionPoint(outermost);
  int64_t bytes = storageBytes(tensorTypeOf(value));
  there = allocate(value.getLoc(), bytes);
  copy(value.getLoc(), buffer, there, bytes);
  return there;
}

Value Lowering::home(Value value) {
  if (Value known = buffers.lookup(value))
    return known;
  auto constant = value.getDefiningOp<ConstantOp>();
  assert(constant && "used before it is computed");
  return constantOn(constant, getTypeDeviceName(value.getType()));
}

Value Lowering::constantOn(ConstantOp constant, StringRef where) {
  Value &buffer = constants[{constant.getResult(), b.getStringAttr(where)}];
  if (buffer)
    return buffer;
  auto type = exec::BufferType::get(b.getContext(),
                                    storageBytes(tensorTypeOf(constant.getResult())), where);
  // Constants are created at the beginning of the program, where they dominate all regions.
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.getBody().front());
  return buffer = exec::ConstantOp::create(b, constant.getLoc(), type, constant.getValue(),
                                           StringAttr());
}

LogicalResult Lowering::command(Operation &op) {
  Location loc = op.getLoc();
  if (isa<ConstantOp>(op))
    return success();
  // A loop or branch runs on one device, including the commands in its body.
  if (!outermost)
    device = getCommandDevice(&op);
  if (auto transposed = dyn_cast<TransposedViewOp>(op)) {
    buffers[transposed.getY()] = bufferOf(transposed.getX());
    return success();
  }
  if (isa<ReshapeOp, TransferOp>(op)) {
    // A transfer copies the bytes of a tensor and therefore preserves a blocked layout.
    StringRef from = layoutOf(op.getOperand(0).getType()), to = layoutOf(op.getResult(0).getType());
    const bool keepsLayout = isa<TransferOp>(op) && from == to;
    if (!keepsLayout && (!from.empty() || !to.empty()))
      return op.emitError(
          "a view of a blocked layout is not supported; insert a dlc.reorder before it");
    if (crossesDevices(&op) && !outermost)
      copy(loc, home(op.getOperand(0)), resultBuffer(op.getResult(0)),
           storageBytes(tensorTypeOf(op.getResult(0))));
    else
      buffers[op.getResult(0)] = bufferOf(op.getOperand(0));
    return success();
  }
  if (isIterationIndex(&op))
    return success();
  if (auto slice = matchStepSlice(&op)) {
    auto gather = cast<GatherOp>(op);
    int64_t bytes = storageBytes(tensorTypeOf(gather.getY()));
    buffers[gather.getY()] =
        view(loc, bufferOf(gather.getX()), slice->first * bytes, bytes, slice->step * bytes);
    return success();
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    auto start = isReversedLoopOutput(&op) ? 0 : getSliceByteOffset(slice);
    if (!start)
      return op.emitError("a slice that is not contiguous in memory must be in a fusion");
    buffers[slice.getY()] =
        view(loc, bufferOf(slice.getX()), *start, storageBytes(tensorTypeOf(slice.getY())));
    return success();
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    if (!isContiguousConcat(concat))
      return op.emitError("a concatenation that is not written in place must be in a fusion");
    return concatenate(concat);
  }
  if (auto branch = dyn_cast<IfOp>(op))
    return lowerIf(branch);
  if (auto loop = dyn_cast<LoopOp>(op))
    return lowerLoop(loop);
  if (auto collective = makeCollectiveCall(&op))
    return library(op, *collective);
  const Provider *provider = findProvider(&op);
  if (!provider)
    return op.emitError("no kernel was selected for this operation");
  if (llvm::all_of(op.getResults(),
                   [](Value v) { return tensorTypeOf(v).getNumElements() == 0; })) {
    for (Value v : op.getResults())
      resultBuffer(v);
    return success();
  }
  if (provider->about.kind == KernelKind::Host)
    return launch(cast<FusionOp>(op), *provider);
  if (provider->about.kind == KernelKind::Gpu)
    return launchOnGpu(op);
  std::string why;
  auto call = describeLibraryCall(&op, options.threads, &why);
  if (!call)
    return op.emitError("the library kernel that was chosen for this operation cannot be created: ")
           << why;
  return library(op, *call);
}

LogicalResult Lowering::concatenate(ConcatOp concat) {
  Value whole = buffers.lookup(concat.getY());
  if (!whole)
    whole = resultBuffer(concat.getY());
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(concat.getXs())) {
    int64_t bytes = storageBytes(tensorTypeOf(part));
    if (bytes > 0 && !placed.contains({concat.getOperation(), i}))
      copy(concat.getLoc(), bufferOf(part), view(concat.getLoc(), whole, offset, bytes), bytes);
    offset += bytes;
  }
  return success();
}

} // namespace dlc::lower

namespace dlc {

LogicalResult lowerToExec(ModuleOp module, const CompileOptions &options,
                          const cpu::Target &target) {
  return lower::Lowering(module, options, target).run();
}

} // namespace dlc

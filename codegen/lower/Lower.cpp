//===- Lower.cpp - tensors to buffers, operations to commands -------------===//
#include "codegen/lower/Lower.h"

#include "codegen/cpu/Inplace.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/cpu/Split.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Order.h"
#include "codegen/lower/Packed.h"
#include "codegen/lower/Schedule.h"
#include "codegen/lower/Streams.h"
#include "codegen/lower/Views.h"
#include "codegen/select/LibraryCall.h"
#include "codegen/select/Select.h"
#include "ir/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dlc {

namespace {

using namespace lower;

class Lowering {
public:
  Lowering(ModuleOp module, const CompileOptions &options, const cpu::Target &target)
      : module(module), options(options), target(target), b(module.getContext()) {}

  LogicalResult run() {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main)
      return module.emitError("a model module must have a function @main");
    Block &body = main.getBody().front();
    SmallVector<State> states = statesOf(main);
    OldValues old(states, body);
    SmallVector<Update> updates = orderUpdates(main, states, old, options);
    SmallVector<Attribute> inputs, outputs, kept;
    for (const State &state : states)
      kept.push_back(describeState(main, state));
    for (BlockArgument argument : body.getArguments()) {
      if (main.getArgAttr(argument.getArgNumber(), "dlc.state"))
        continue;
      auto info = describe(main.getArgAttrDict(argument.getArgNumber()), argument.getType(),
                           "input", argument.getArgNumber());
      if (auto value = main.getArgAttr(argument.getArgNumber(), "dlc.value")) {
        auto list = llvm::to_vector(info.getValue());
        list.push_back(b.getNamedAttr("value", value));
        info = b.getDictionaryAttr(list);
      }
      inputs.push_back(info);
    }
    for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
      if (!main.getResultAttr(i, "dlc.state"))
        outputs.push_back(describe(main.getResultAttrDict(i), type, "output", i));
    b.setInsertionPoint(main);
    program = exec::ProgramOp::create(b, main.getLoc(), "main", b.getArrayAttr(inputs),
                                      b.getArrayAttr(outputs),
                                      kept.empty() ? ArrayAttr() : b.getArrayAttr(kept),
                                      IntegerAttr(), ArrayAttr(), DictionaryAttr());
    Block *commands = new Block;
    program.getBody().push_back(commands);
    b.setInsertionPointToStart(commands);
    int64_t nextInput = 0;
    for (BlockArgument argument : body.getArguments()) {
      auto type = bufferType(argument);
      if (!main.getArgAttr(argument.getArgNumber(), "dlc.state"))
        buffers[argument] = exec::InputOp::create(b, argument.getLoc(), type, nextInput++);
    }
    auto results = body.getTerminator()->getOperands();
    // The caller's buffers; null for new values of state.
    SmallVector<Value> outputBuffers;
    int64_t nextOutput = 0;
    for (auto [i, value] : llvm::enumerate(results)) {
      auto type = bufferType(value);
      bool isState = bool(main.getResultAttr(i, "dlc.state"));
      outputBuffers.push_back(
          isState
              ? Value()
              : Value(exec::OutputOp::create(b, value.getLoc(), type, nextOutput++).getBuffer()));
    }
    prepareStates(states, updates);
    // A value that is returned is written where the caller wants it.
    llvm::SmallBitVector done(results.size());
    for (auto [i, value] : llvm::enumerate(results)) {
      if (!outputBuffers[i]) {
        done.set(i);
      } else if (auto part = old.find(value)) {
        // Before anything writes over it.
        copyOld(*part, states, value, outputBuffers[i]);
        done.set(i);
      } else if (claim(value, outputBuffers[i], 0)) {
        done.set(i);
      }
    }
    std::vector<Value> saved(states.size());
    for (auto [s, update] : llvm::enumerate(updates)) {
      if (!update.saved)
        continue;
      device = deviceNameOf(states[s].old.getType());
      saved[s] = allocate(update.value.getLoc(), storageBytes(tensorTypeOf(update.value)));
      copyOld(*old.find(update.value), states, update.value, saved[s]);
    }
    SmallVector<unsigned> turns = llvm::to_vector(llvm::seq<unsigned>(0, updates.size()));
    llvm::sort(turns, [&](unsigned a, unsigned b) { return updates[a].turn < updates[b].turn; });
    claimParts(body);
    for (Operation &op : body) {
      for (unsigned s : turns)
        if (const Update &update = updates[s]; update.copiedBefore == &op)
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
    assignStreams(program);
    return success();
  }

private:
  DictionaryAttr describe(DictionaryAttr attrs, Type type, StringRef word, size_t i) {
    Attribute name = attrs ? attrs.get("dlc.name") : Attribute();
    if (!name)
      name = b.getStringAttr(word + Twine(i));
    return b.getDictionaryAttr(
        {b.getNamedAttr("name", name), b.getNamedAttr("type", TypeAttr::get(type))});
  }

  DictionaryAttr describeState(func::FuncOp main, const State &state) {
    unsigned number = state.old.getArgNumber();
    auto list = llvm::to_vector(
        describe(main.getArgAttrDict(number), state.old.getType(), "state", number).getValue());
    if (main.getArgAttr(number, "dlc.parameter"))
      list.push_back(b.getNamedAttr("parameter", b.getUnitAttr()));
    auto init = main.getArgAttrOfType<ElementsAttr>(number, "dlc.init");
    if (init && !isZero(init))
      list.push_back(b.getNamedAttr("init", init));
    return b.getDictionaryAttr(list);
  }

  /// Zeros are what state begins with: nothing has to hold them.
  static bool isZero(ElementsAttr value) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    return dense && dense.isSplat() && !dense.getRawData().empty() &&
           llvm::all_of(dense.getRawData(), [](char c) { return c == 0; });
  }

  /// Both buffers of each state, and what is written straight into the new one.
  void prepareStates(ArrayRef<State> states, ArrayRef<Update> updates) {
    for (auto [s, state] : llvm::enumerate(states)) {
      auto type = bufferType(state.old);
      Location loc = state.old.getLoc();
      buffers[state.old] = exec::StateOp::create(b, loc, type, s, false);
      const Update &update = updates[s];
      newStates.push_back(update.kind == Update::Kind::None
                              ? Value()
                              : Value(exec::StateOp::create(b, loc, type, s, true).getBuffer()));
      if (update.kind == Update::Kind::Direct && !claim(update.value, newStates[s], 0))
        llvm_unreachable("a new value that has a place already");
    }
  }

  void copyOld(OldPart part, ArrayRef<State> states, Value value, Value to) {
    int64_t bytes = storageBytes(tensorTypeOf(value));
    copy(value.getLoc(), view(value.getLoc(), buffers[states[part.state].old], part.offset, bytes),
         to, bytes);
  }

  /// Makes `value` be written at `offset` of `parent`, where some command makes it and nobody has
  /// claimed it before. Views and concatenations pass the claim on to what they are made of.
  bool claim(Value value, Value parent, int64_t offset) {
    Operation *op = value.getDefiningOp();
    if (!op || destinations.count(value) || isa<ConstantOp>(op))
      return false;
    if (isa<ReshapeOp>(op)) {
      if (!claim(op->getOperand(0), parent, offset))
        return false;
      destinations[value] = {parent, offset};
      return true;
    }
    if (isa<SliceOp>(op) || (isa<TransferOp>(op) && !crosses(op)))
      return false;
    // What is made on another device is copied at the end.
    if (commandDevice(op) != cast<exec::BufferType>(parent.getType()).getDevice())
      return false;
    destinations[value] = {parent, offset};
    return true;
  }

  /// Concatenations that lie in one run: what makes their parts writes them in place.
  void claimParts(Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      for (Region &region : op.getRegions())
        if (!isa<FusionOp>(op))
          claimParts(region.front());
      auto concat = dyn_cast<ConcatOp>(op);
      if (!concat || !isPlainConcat(concat))
        continue;
      auto found = destinations.find(concat.getY());
      // A branch's or loop's own concatenation is found by its commands' order: the buffer may
      // stand at the front.
      std::pair<Value, int64_t> whole;
      if (found != destinations.end()) {
        whole = found->second;
      } else {
        OpBuilder::InsertionGuard guard(b);
        if (&block != &block.getParentOp()->getRegion(0).front() ||
            !isa<func::FuncOp>(block.getParentOp()))
          continue;
        device = commandDevice(&op);
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

  Value view(Location loc, Value buffer, int64_t offset, int64_t bytes) {
    if (offset == 0 && cast<exec::BufferType>(buffer.getType()).getBytes() == bytes)
      return buffer;
    // Views of views are views of the whole.
    if (auto inner = buffer.getDefiningOp<exec::ViewOp>())
      return view(loc, inner.getSource(), int64_t(inner.getOffset()) + offset, bytes);
    auto type = exec::BufferType::get(b.getContext(), bytes,
                                      cast<exec::BufferType>(buffer.getType()).getDevice());
    return exec::ViewOp::create(b, loc, type, buffer, offset);
  }

  exec::BufferType bufferType(Value value) {
    return exec::BufferType::get(b.getContext(), storageBytes(tensorTypeOf(value)),
                                 deviceNameOf(value.getType()));
  }

  /// On the device of the command that is being lowered.
  Value allocate(Location loc, int64_t bytes) {
    return exec::AllocOp::create(b, loc, exec::BufferType::get(b.getContext(), bytes, device),
                                 IntegerAttr());
  }

  void copy(Location loc, Value from, Value to, int64_t bytes) {
    if (from != to && bytes > 0)
      exec::CopyOp::create(b, loc, from, to, bytes, 0, 0);
  }

  /// The buffer that a command's result goes to.
  Value resultBuffer(Value value) {
    int64_t bytes = storageBytes(tensorTypeOf(value));
    auto found = destinations.find(value);
    Value buffer = found == destinations.end()
                       ? allocate(value.getLoc(), bytes)
                       : view(value.getLoc(), found->second.first, found->second.second, bytes);
    buffers[value] = buffer;
    return buffer;
  }

  /// Where the value lies, for commands on the device that is being lowered for: 0-d scalars come
  /// from anywhere.
  Value bufferOf(Value value) {
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return constantOn(constant, device);
    Value buffer = home(value);
    if (cast<exec::BufferType>(buffer.getType()).getDevice() == device)
      return buffer;
    Value &there = moved[{buffer, b.getStringAttr(device)}];
    if (there)
      return there;
    // Before the outermost loop or branch: what comes from outside does not change in there.
    OpBuilder::InsertionGuard guard(b);
    if (outermost)
      b.setInsertionPoint(outermost);
    int64_t bytes = storageBytes(tensorTypeOf(value));
    there = allocate(value.getLoc(), bytes);
    copy(value.getLoc(), buffer, there, bytes);
    return there;
  }

  /// Where the value lies, on whatever device.
  Value home(Value value) {
    if (Value known = buffers.lookup(value))
      return known;
    auto constant = value.getDefiningOp<ConstantOp>();
    assert(constant && "used before it is computed");
    return constantOn(constant, deviceNameOf(value.getType()));
  }

  Value constantOn(ConstantOp constant, StringRef where) {
    Value &buffer = constants[{constant.getResult(), b.getStringAttr(where)}];
    if (buffer)
      return buffer;
    auto type = exec::BufferType::get(b.getContext(),
                                      storageBytes(tensorTypeOf(constant.getResult())), where);
    // Constants stand at the front of the program: every region sees them.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&program.getBody().front());
    return buffer = exec::ConstantOp::create(b, constant.getLoc(), type, constant.getValue(),
                                             StringAttr());
  }

  LogicalResult command(Operation &op) {
    Location loc = op.getLoc();
    if (isa<ConstantOp>(op))
      return success();
    // A loop or branch is on one device with all that is in it.
    if (!outermost)
      device = commandDevice(&op);
    if (isa<ReshapeOp, TransferOp>(op)) {
      if (!isPlain(tensorTypeOf(op.getOperand(0))) || !isPlain(tensorTypeOf(op.getResult(0))))
        return op.emitError("a view of a blocked layout; put a dlc.reorder before it");
      if (crosses(&op) && !outermost)
        copy(loc, home(op.getOperand(0)), resultBuffer(op.getResult(0)),
             storageBytes(tensorTypeOf(op.getResult(0))));
      else
        buffers[op.getResult(0)] = bufferOf(op.getOperand(0));
      return success();
    }
    if (auto slice = dyn_cast<SliceOp>(op)) {
      auto start = contiguousStart(slice);
      if (!start)
        return op.emitError("a slice that is no run of memory must be in a fusion");
      buffers[slice.getY()] =
          view(loc, bufferOf(slice.getX()), *start, storageBytes(tensorTypeOf(slice.getY())));
      return success();
    }
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      if (!isPlainConcat(concat))
        return op.emitError("a concatenation that is not written in place must be in a fusion");
      return concatenate(concat);
    }
    if (auto branch = dyn_cast<IfOp>(op))
      return lowerIf(branch);
    if (auto loop = dyn_cast<LoopOp>(op))
      return lowerLoop(loop);
    auto kernel = op.getAttrOfType<StringAttr>(kKernelAttr);
    if (!kernel)
      return op.emitError("no kernel was selected for this operation");
    if (llvm::all_of(op.getResults(),
                     [](Value v) { return tensorTypeOf(v).getNumElements() == 0; })) {
      for (Value v : op.getResults())
        resultBuffer(v);
      return success();
    }
    if (kernel == "generated" || kernel == "contract")
      return launch(cast<FusionOp>(op), kernel);
    if (kernel == "cuda")
      return launchOnGpu(op);
    std::string why;
    auto call = chosenCall(&op, options.threads, &why);
    if (!call)
      return op.emitError("the selected library kernel cannot be made: ") << why;
    return library(op, *call);
  }

  /// Operands are written straight into the result, which the pre-pass has claimed for them; the
  /// rest is copied.
  LogicalResult concatenate(ConcatOp concat) {
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

  LogicalResult launch(FusionOp fusion, StringRef selected) {
    std::string why;
    auto normal = cpu::normalize(fusion, why);
    if (failed(normal))
      return fusion.emitError(why);
    auto schedule = planSchedule(fusion, *normal, selected, target, true, why);
    if (failed(schedule)) {
      normal->erase();
      return fusion.emitError("the selected kernel cannot be made: ") << why;
    }
    SmallVector<int64_t> inplace;
    if (schedule->name != "parts")
      for (auto [result, input] : cpu::inplacePairs(*normal))
        inplace.append({int64_t(fusion.getInputs().size() + result), int64_t(input)});
    if (schedule->name == "rows")
      for (auto [result, input] : cpu::inplaceRows(*normal, target))
        inplace.append({int64_t(fusion.getInputs().size() + result), int64_t(input)});
    SmallVector<Value> inputs, outputs;
    for (auto [i, input] : llvm::enumerate(fusion.getInputs())) {
      if (auto &operand = schedule->packed; operand && operand->argument == i)
        inputs.push_back(packed(fusion.getLoc(), operand->data, operand->bytes, operand->layout));
      else
        inputs.push_back(bufferOf(input));
    }
    for (Value result : fusion.getResults())
      outputs.push_back(resultBuffer(result));
    auto made = launchNormal(*normal, *schedule, inputs, outputs, inplace);
    if (failed(made))
      return failure();
    tellCandidates(fusion, *made);
    return success();
  }

  /// Launches a normalised fusion, which it takes over, on buffers.
  FailureOr<exec::LaunchOp> launchNormal(FusionOp normal, const Schedule &schedule,
                                         ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                                         ArrayRef<int64_t> inplace) {
    if (schedule.name == "parts")
      return launchParts(normal, schedule, inputs, outputs);
    SmallVector<Value> list(inputs);
    llvm::append_range(list, outputs);
    return launchKernel(normal, schedule, list, outputs.size(), inplace);
  }

  /// One kernel leaves partial results, another combines them.
  FailureOr<exec::LaunchOp> launchParts(FusionOp normal, const Schedule &schedule,
                                        ArrayRef<Value> inputs, ArrayRef<Value> outputs) {
    Location loc = normal.getLoc();
    auto split = cpu::planSplit(normal, target);
    auto combination = cpu::combineSplit(b, normal, *split);
    std::string why;
    auto second = cpu::normalize(combination.fusion, why);
    SmallVector<Value> placeholders(combination.fusion.getInputs());
    combination.fusion.erase();
    if (failed(second))
      return normal.emitError(why), failure();
    auto combining = planSchedule(*second, *second, "generated", target, false, why);
    if (failed(combining))
      return normal.emitError(why), failure();
    SmallVector<Value> parts, list(inputs), from, to;
    for (ReduceOp op : split->reduces) {
      auto type = RankedTensorType::get(split->partialShape(), cpu::partialType(op));
      parts.push_back(allocate(loc, storageBytes(type)));
    }
    SmallVector<unsigned> firstOutputs = cpu::firstOutputs(normal, *split);
    SmallVector<int64_t> inplace;
    for (auto [result, input] : cpu::inplaceParts(normal, target))
      if (auto at = llvm::find(firstOutputs, result); at != firstOutputs.end())
        inplace.append({int64_t(inputs.size()) + (at - firstOutputs.begin()), int64_t(input)});
    for (unsigned which : combination.operands)
      from.push_back(which < inputs.size() ? inputs[which] : parts[which - inputs.size()]);
    for (unsigned which : combination.outputs)
      to.push_back(outputs[which]);
    for (unsigned which : firstOutputs)
      list.push_back(outputs[which]);
    llvm::append_range(list, parts);
    auto made = launchKernel(normal, schedule, list, list.size() - inputs.size(), inplace);
    auto last = launchNormal(*second, *combining, from, to, {});
    for (Value placeholder : placeholders)
      if (placeholder.use_empty())
        placeholder.getDefiningOp()->erase();
    return failed(last) ? last : FailureOr<exec::LaunchOp>(made);
  }

  /// Launches a normalised fusion's kernel, which it makes unless there is one of the same text.
  /// The last `written` of the buffers are written.
  exec::LaunchOp launchKernel(FusionOp normal, const Schedule &schedule, ArrayRef<Value> list,
                              size_t written, ArrayRef<int64_t> inplace) {
    Location loc = normal.getLoc();
    const cpu::KernelPlan &plan = schedule.plan;
    StringAttr &symbol = kernels[scheduleText(schedule) + meaningOf(normal)];
    if (!symbol) {
      symbol = b.getStringAttr(kernelName(normal));
      setSchedule(makeKernel(symbol, normal), schedule);
    } else {
      normal->erase();
    }
    SmallVector<int64_t> writes;
    for (size_t i = list.size() - written; i < list.size(); ++i)
      writes.push_back(int64_t(i));
    return exec::LaunchOp::create(b, loc, symbol, list, writes, inplace, plan.extent, plan.grain,
                                  plan.scratch, llvm::APFloat(plan.flops),
                                  llvm::APFloat(plan.bytes), /*stream=*/0, DenseI32ArrayAttr(),
                                  DenseI32ArrayAttr());
  }

  /// What tells kernels apart: the body's text, without where it comes from. Operands' names do not
  /// matter.
  std::string meaningOf(FusionOp normal) {
    std::string text;
    llvm::raw_string_ostream os(text);
    normal->setAttrs(DictionaryAttr::get(b.getContext()));
    for (Value argument : normal.getBody().getArguments())
      os << argument.getType() << ";";
    AsmState state(normal.getOperation());
    for (Operation &op : normal.getBody().front()) {
      op.print(os, state);
      os << "\n";
    }
    return text;
  }

  /// A kernel stands alone: its fusion, which it takes over, reads placeholders.
  exec::KernelOp makeKernel(StringAttr symbol, FusionOp normal) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(program);
    auto kernel = exec::KernelOp::create(b, normal.getLoc(), symbol);
    Block *block = new Block;
    kernel.getBody().push_back(block);
    b.setInsertionPointToStart(block);
    SmallVector<Value> inputs;
    for (Value argument : normal.getBody().getArguments())
      inputs.push_back(UnrealizedConversionCastOp::create(b, normal.getLoc(), argument.getType(),
                                                          ValueRange{})
                           .getResult(0));
    normal->moveBefore(block, block->end());
    normal->setOperands(inputs);
    return kernel;
  }

  /// A fusion or other operation as launches of a GPU, one after another, with memory for what they
  /// hand on.
  LogicalResult launchOnGpu(Operation &op) {
    std::string why;
    auto gpu = cuda::targetOf(device, options.gpuArch, why);
    if (!gpu)
      return op.emitError(why);
    auto normal = normalForGpu(&op, why);
    if (failed(normal))
      return op.emitError("the selected kernel cannot be made: ") << why;
    SmallVector<Value> inputs, outputs, scratch, all;
    for (Value operand : op.getOperands())
      inputs.push_back(bufferOf(operand));
    for (Value result : op.getResults())
      outputs.push_back(resultBuffer(result));
    llvm::append_range(all, inputs);
    llvm::append_range(all, outputs);
    std::vector<int64_t> alignments = alignmentsOf(all);
    std::string text = "cuda " + gpu->arch + " " + std::to_string(gpu->multiprocessors);
    for (int64_t alignment : alignments)
      text += " " + std::to_string(alignment);
    StringAttr &symbol = kernels[text + "\n" + meaningOf(*normal)];
    if (!symbol) {
      symbol = b.getStringAttr(kernelName(*normal));
      auto made = cuda::generateKernel(*normal, symbol.getValue(),
                                       gpuKernelOptions(*gpu, alignments));
      if (failed(made)) {
        normal->erase();
        return failure();
      }
      setGpuKernel(makeKernel(symbol, *normal), *made, gpu->arch);
      gpuKernels[symbol] = std::move(*made);
    } else {
      normal->erase();
    }
    const cuda::Kernel &kernel = gpuKernels[symbol];
    for (int64_t bytes : kernel.scratch)
      scratch.push_back(allocate(op.getLoc(), bytes));
    double flops = kernel.flops;
    for (const cuda::Launch &launch : kernel.launches) {
      auto command = createGpuLaunch(b, op.getLoc(), symbol, kernel, launch, flops, inputs, outputs,
                                     scratch);
      tellCandidates(&op, command);
      flops = 0; // the first does nearly all
    }
    return success();
  }

  /// What stood for election goes along, for who inspects the program.
  static void tellCandidates(Operation *from, Operation *to) {
    if (Attribute candidates = from->getAttr(kCandidatesAttr))
      to->setAttr("candidates", candidates);
  }

  std::string kernelName(FusionOp fusion) {
    std::string name = "k" + std::to_string(kernels.size() - 1);
    int words = 0;
    for (Operation &op : fusion.getBody().front().without_terminator())
      if (!isa<ConstantOp>(op) && ++words <= 4)
        name += "_" + op.getName().stripDialect().str();
    return words > 4 ? name + "_etc" : name;
  }

  LogicalResult library(Operation &op, LibraryCall &call) {
    SmallVector<Value> list;
    SmallVector<int64_t> writes, inplace;
    for (CallArgument &argument : call.arguments) {
      switch (argument.kind) {
      case CallArgument::Kind::Value: {
        Value whole = bufferOf(argument.value);
        int64_t rest = cast<exec::BufferType>(whole.getType()).getBytes() - argument.offset;
        list.push_back(view(op.getLoc(), whole, argument.offset, rest));
        break;
      }
      case CallArgument::Kind::Packed: {
        std::string error;
        auto data = argument.pack(error);
        if (!data)
          return op.emitError("packing weights: ") << error;
        list.push_back(packed(op.getLoc(), data, argument.bytes, argument.layout));
        break;
      }
      case CallArgument::Kind::Result: {
        Value result = op.getResult(argument.result);
        Value whole = buffers.count(result) ? buffers.lookup(result) : resultBuffer(result);
        writes.push_back(list.size());
        int64_t rest = cast<exec::BufferType>(whole.getType()).getBytes() - argument.offset;
        list.push_back(view(op.getLoc(), whole, argument.offset, rest));
        break;
      }
      case CallArgument::Kind::Scratch:
        writes.push_back(list.size());
        list.push_back(allocate(op.getLoc(), argument.bytes));
        break;
      }
    }
    if (call.accumulates)
      start(op.getLoc(), bufferOf(call.accumulates->value), buffers.lookup(op.getResult(0)),
            storageBytes(tensorTypeOf(op.getResult(0))));
    for (auto [written, read] : call.inplace)
      inplace.append({int64_t(written), int64_t(read)});
    if (auto alignments = alignmentsOf(list); call.library == "cublaslt" || call.library == "cudnn")
      call.desc["alignment"] = alignments.empty() ? kBufferAlignment : *llvm::min_element(alignments);
    auto made = exec::LibraryOp::create(
        b, op.getLoc(), b.getStringAttr(call.library), b.getStringAttr(call.desc.dump()), list,
        b.getDenseI64ArrayAttr(writes), b.getDenseI64ArrayAttr(inplace),
        b.getF64FloatAttr(call.flops), b.getF64FloatAttr(call.bytes));
    made->setAttr("implementation", b.getStringAttr(call.implementation));
    tellCandidates(&op, made);
    return success();
  }

  /// A call that adds to its result finds there what it adds to: a state's new value where the old
  /// one lies, as it is.
  void start(Location loc, Value from, Value to, int64_t bytes) {
    auto old = from.getDefiningOp<exec::StateOp>(), fresh = to.getDefiningOp<exec::StateOp>();
    if (!old || !fresh || old.getIndex() != fresh.getIndex())
      copy(loc, from, to, bytes);
  }

  Value packed(Location loc, std::shared_ptr<void> data, int64_t bytes, StringRef layout) {
    Value &buffer = packedWeights.find(data, bytes, layout, device);
    if (buffer)
      return buffer;
    auto type = RankedTensorType::get({bytes}, b.getI8Type());
    // The blob shares the packed memory; the module keeps it alive.
    auto keep = new std::shared_ptr<void>(data);
    AsmResourceBlob blob(
        ArrayRef<char>(static_cast<const char *>(data.get()), bytes), 64,
        [keep](void *, size_t, size_t) { delete keep; }, false);
    auto attr = DenseResourceElementsAttr::get(type, "packed", std::move(blob));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&program.getBody().front());
    return buffer = exec::ConstantOp::create(
               b, loc, exec::BufferType::get(b.getContext(), bytes, device), attr,
               b.getStringAttr(layout));
  }

  /// Lowers a region's commands and copies what it yields into `targets` (in order, after skipping
  /// the first ones).
  LogicalResult region(Block &block, ArrayRef<Value> targets) {
    for (Operation &op : block.without_terminator())
      if (failed(command(op)))
        return failure();
    for (auto [value, to] : llvm::zip(block.getTerminator()->getOperands(), targets))
      if (to)
        copy(block.getTerminator()->getLoc(), bufferOf(value), to,
             storageBytes(tensorTypeOf(value)));
    return success();
  }

  LogicalResult lowerIf(IfOp op) {
    SmallVector<Value> results;
    for (Value result : op.getResults())
      results.push_back(resultBuffer(result));
    auto branch = exec::IfOp::create(b, op.getLoc(), bufferOf(op.getCondition()));
    Enclosing enclosing(*this, branch);
    for (auto [from, to] : {std::pair{&op.getThenRegion(), &branch.getThenRegion()},
                            {&op.getElseRegion(), &branch.getElseRegion()}}) {
      OpBuilder::InsertionGuard guard(b);
      to->push_back(new Block);
      b.setInsertionPointToStart(&to->front());
      if (failed(region(from->front(), results)))
        return failure();
    }
    return success();
  }

  LogicalResult lowerLoop(LoopOp op) {
    Location loc = op.getLoc();
    Block &body = op.getBody().front();
    auto yield = body.getTerminator();
    size_t carried = op.getInits().size();
    bool conditional = bool(op.getCondition());
    // Carried values live in buffers of their own from before the loop to after it.
    SmallVector<Value> state;
    for (size_t i = 0; i < carried; ++i) {
      Value to = resultBuffer(op.getResult(i));
      copy(loc, bufferOf(op.getInits()[i]), to, storageBytes(tensorTypeOf(op.getInits()[i])));
      state.push_back(to);
      buffers[body.getArgument(i + 1)] = to;
    }
    Value condition;
    if (conditional) {
      condition = allocate(loc, 1);
      copy(loc, bufferOf(op.getCondition()), condition, 1);
    }
    Value index = allocate(loc, 8);
    buffers[body.getArgument(0)] = index;
    SmallVector<Value> stacked;
    for (Value result : op.getResults().drop_front(carried))
      stacked.push_back(resultBuffer(result));
    auto loop = exec::LoopOp::create(b, loc, op.getTrip() ? bufferOf(op.getTrip()) : Value(),
                                     condition, index);
    Enclosing enclosing(*this, loop);
    OpBuilder::InsertionGuard guard(b);
    loop.getBody().push_back(new Block);
    b.setInsertionPointToStart(&loop.getBody().front());
    for (Operation &inner : body.without_terminator())
      if (failed(command(inner)))
        return failure();
    auto values = yield->getOperands();
    for (auto [value, to] : llvm::zip(values.drop_front(conditional + carried), stacked)) {
      int64_t bytes = storageBytes(tensorTypeOf(value));
      if (bytes > 0)
        exec::CopyOp::create(b, loc, bufferOf(value), view(loc, to, 0, bytes), bytes, 0, bytes);
    }
    // A next value may be another carried one (a swap): then all are saved before any is
    // overwritten.
    SmallVector<Value> next;
    for (size_t i = 0; i < carried; ++i) {
      Value value = bufferOf(values[conditional + i]);
      Value root = value;
      while (auto part = root.getDefiningOp<exec::ViewOp>())
        root = part.getSource();
      if (llvm::is_contained(state, root) && value != state[i]) {
        Value saved = allocate(loc, storageBytes(tensorTypeOf(values[conditional + i])));
        copy(loc, value, saved, storageBytes(tensorTypeOf(values[conditional + i])));
        value = saved;
      }
      next.push_back(value);
    }
    for (size_t i = 0; i < carried; ++i)
      copy(loc, next[i], state[i], storageBytes(tensorTypeOf(values[conditional + i])));
    if (conditional)
      copy(loc, bufferOf(values[0]), condition, 1);
    return success();
  }

  /// While it lives, commands are those of a loop's or branch's body.
  struct Enclosing {
    Enclosing(Lowering &lowering, Operation *op) : lowering(lowering), before(lowering.outermost) {
      if (!before)
        lowering.outermost = op;
    }
    ~Enclosing() { lowering.outermost = before; }
    Lowering &lowering;
    Operation *before;
  };

  ModuleOp module;
  const CompileOptions &options;
  const cpu::Target &target;
  OpBuilder b;
  std::string device = "cpu";     ///< of the command that is being lowered
  Operation *outermost = nullptr; ///< the loop or branch around it that stands in no other
  llvm::DenseMap<std::pair<Value, Attribute>, Value> moved, constants; ///< by device
  exec::ProgramOp program;
  lower::PackedWeights packedWeights;
  llvm::DenseMap<Value, Value> buffers;
  SmallVector<Value> newStates; ///< their buffers; null where a state has no new value
  llvm::DenseMap<Value, std::pair<Value, int64_t>> destinations;
  llvm::DenseSet<std::pair<Operation *, size_t>>
      placed; ///< parts of concatenations that need no copy
  std::map<std::string, StringAttr> kernels;
  llvm::DenseMap<StringAttr, cuda::Kernel> gpuKernels; ///< by symbol
};

} // namespace

LogicalResult lowerToExec(ModuleOp module, const CompileOptions &options,
                          const cpu::Target &target) {
  return Lowering(module, options, target).run();
}

} // namespace dlc

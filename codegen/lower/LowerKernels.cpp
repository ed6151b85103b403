//===- LowerKernels.cpp - lowers kernel launches and library calls --------===//
#include "codegen/lower/Lowering.h"
#include "ir/dlc/Attributes.h"

#include "codegen/cpu/Inplace.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/cpu/kernel/Split.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Views.h"
#include "codegen/providers/Provider.h"
#include "ir/tensor/FilePages.h"
#include "passes/ConstantRewrites.h"
#include "runtime/library/schema/Schema.h"
#include "runtime/program/WeightsMemory.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace dlc::lower {

LogicalResult Lowering::launch(FusionOp fusion, const Provider &provider) {
  std::string why;
  auto normal = cpu::normalizeFusion(fusion, why);
  if (failed(normal))
    return fusion.emitError(why);
  auto schedule = provider.schedule(fusion, *normal, target, /*packs=*/true, why);
  if (failed(schedule)) {
    normal->erase();
    return fusion.emitError("the kernel that was chosen for this operation cannot be created: ")
           << why;
  }
  SmallVector<int64_t> inplace;
  if (schedule->name != "parts")
    for (auto [result, input] : cpu::findElementwiseInplacePairs(*normal))
      inplace.append({int64_t(fusion.getInputs().size() + result), int64_t(input)});
  if (schedule->name == "rows") {
    // The schedule `rows` is also set for a split reduction if a single work unit computes each
    // result. Such a kernel reads its operands in the order of a split reduction.
    auto pairs = cpu::findRowwiseInplacePairs(*normal, target);
    llvm::append_range(pairs, cpu::findSplitInplacePairs(*normal, target));
    for (auto [result, input] : pairs)
      inplace.append({int64_t(fusion.getInputs().size() + result), int64_t(input)});
  }
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
  copyCandidates(fusion, *made);
  return success();
}

FailureOr<exec::LaunchOp> Lowering::launchNormal(FusionOp normal, const Schedule &schedule,
                                                 ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                                                 ArrayRef<int64_t> inplace) {
  if (schedule.name == "parts")
    return launchParts(normal, schedule, inputs, outputs);
  SmallVector<Value> list(inputs);
  llvm::append_range(list, outputs);
  return launchKernel(normal, schedule, list, outputs.size(), inplace);
}

FailureOr<exec::LaunchOp> Lowering::launchParts(FusionOp normal, const Schedule &schedule,
                                                ArrayRef<Value> inputs, ArrayRef<Value> outputs) {
  Location loc = normal.getLoc();
  auto split = cpu::planSplit(normal, target);
  auto combination = cpu::createCombiningFusion(b, normal, *split);
  std::string why;
  auto second = cpu::normalizeFusion(combination.fusion, why);
  SmallVector<Value> placeholders(combination.fusion.getInputs());
  combination.fusion.erase();
  if (failed(second))
    return normal.emitError(why), failure();
  Schedule combining = planRowSchedule(*second, target);
  SmallVector<Value> parts, list(inputs), from, to;
  for (ReduceOp op : split->reduces) {
    auto type = RankedTensorType::get(split->partialShape(), cpu::getPartialType(op));
    parts.push_back(allocate(loc, storageBytes(type)));
  }
  SmallVector<unsigned> firstOutputs = cpu::getFirstKernelOutputs(normal, *split);
  SmallVector<int64_t> inplace;
  for (auto [result, input] : cpu::findSplitInplacePairs(normal, target))
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
  auto last = launchNormal(*second, combining, from, to, {});
  for (Value placeholder : placeholders)
    if (placeholder.use_empty())
      placeholder.getDefiningOp()->erase();
  return failed(last) ? last : FailureOr<exec::LaunchOp>(made);
}

exec::LaunchOp Lowering::launchKernel(FusionOp normal, const Schedule &schedule,
                                      ArrayRef<Value> list, size_t written,
                                      ArrayRef<int64_t> inplace) {
  Location loc = normal.getLoc();
  const cpu::KernelPlan &plan = schedule.plan;
  StringAttr &symbol = kernels[formatSchedule(schedule) + textOf(normal)];
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
                                plan.scratch, llvm::APFloat(plan.flops), llvm::APFloat(plan.bytes),
                                /*stream=*/0, DenseI32ArrayAttr(), DenseI32ArrayAttr());
}

std::string Lowering::textOf(FusionOp normal) {
  std::string text;
  llvm::raw_string_ostream os(text);
  normal->setAttrs(DictionaryAttr::get(b.getContext()));
  for (Value argument : normal.getBody().getArguments())
    os << argument.getType() << ";";
  // Kernels with the same text are shared, even if they originate from different source locations.
  AsmState state(normal.getOperation(), OpPrintingFlags().enableDebugInfo(false).assumeVerified());
  for (Operation &op : normal.getBody().front()) {
    op.print(os, state);
    os << "\n";
  }
  return text;
}

exec::KernelOp Lowering::makeKernel(StringAttr symbol, FusionOp normal) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(program);
  auto kernel = exec::KernelOp::create(b, normal.getLoc(), symbol);
  // The generated code and its cache key depend only on the kernel itself, so the accuracy
  // attributes are copied to it.
  copyAccuracy(normal, kernel);
  Block *block = new Block;
  kernel.getBody().push_back(block);
  b.setInsertionPointToStart(block);
  SmallVector<Value> inputs;
  for (Value argument : normal.getBody().getArguments())
    inputs.push_back(
        UnrealizedConversionCastOp::create(b, normal.getLoc(), argument.getType(), ValueRange{})
            .getResult(0));
  normal->moveBefore(block, block->end());
  normal->setOperands(inputs);
  return kernel;
}

LogicalResult Lowering::launchOnGpu(Operation &op) {
  std::string why;
  auto gpu = cuda::targetOf(device, options.gpuArch, why);
  if (!gpu)
    return op.emitError(why);
  auto normal = normalizeForGpu(&op, why);
  if (failed(normal))
    return op.emitError("the kernel that was chosen for this operation cannot be created: ") << why;
  SmallVector<Value> inputs, outputs, scratch, all;
  for (Value operand : op.getOperands())
    inputs.push_back(bufferOf(operand));
  for (Value result : op.getResults())
    outputs.push_back(resultBuffer(result));
  llvm::append_range(all, inputs);
  llvm::append_range(all, outputs);
  std::vector<int64_t> alignments = getAlignments(all);
  std::string text = "cuda " + gpu->arch + " " + std::to_string(gpu->figures.multiprocessors);
  for (int64_t alignment : alignments)
    text += " " + std::to_string(alignment);
  StringAttr &symbol = kernels[text + "\n" + textOf(*normal)];
  if (!symbol) {
    symbol = b.getStringAttr(kernelName(*normal));
    auto made =
        cuda::generateKernel(*normal, symbol.getValue(), gpuKernelOptions(*gpu, alignments));
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
    auto command =
        createGpuLaunch(b, op.getLoc(), symbol, kernel, launch, flops, inputs, outputs, scratch);
    copyCandidates(&op, command);
    // All operations are counted for the first launch, which does nearly all of the work.
    flops = 0;
  }
  return success();
}

void Lowering::copyCandidates(Operation *from, Operation *to) {
  std::vector<Candidate> candidates = readCandidates(from);
  if (candidates.empty())
    return;
  SmallVector<Attribute> lines;
  for (const std::string &line : formatCandidates(candidates))
    lines.push_back(b.getStringAttr(line));
  to->setAttr(kCommandCandidatesAttr, b.getArrayAttr(lines));
  to->setAttr(kCommandEstimateAttr, b.getF64FloatAttr(candidates.front().time()));
}

std::string Lowering::kernelName(FusionOp fusion) {
  std::string name = "k" + std::to_string(kernels.size() - 1);
  int words = 0;
  for (Operation &op : fusion.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op) && ++words <= 4)
      name += "_" + op.getName().stripDialect().str();
  return words > 4 ? name + "_etc" : name;
}

/// Releases the memory pages of constants that are mapped from a file. They are rarely read again
/// after packing.
static void releaseConstantPages(Operation &op) {
  for (Value operand : op.getOperands())
    if (ConstantOp constant = constantOf(operand))
      if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
        if (const AsmResourceBlob *blob = resource.getRawHandle().getBlob())
          ref::dropFilePages(blob->getData().data(), blob->getData().size());
}

LogicalResult Lowering::library(Operation &op, LibraryCall &call) {
  bool packs = false;
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
      std::shared_ptr<void> data;
      {
        runtime::WeightsMemoryScope place(
            [this](uint64_t bytes) { return packedWeights.allocate(bytes, device); });
        data = argument.pack(error);
      }
      if (!data)
        return op.emitError("packing weights: ") << error;
      list.push_back(packed(op.getLoc(), data, argument.bytes, argument.layout));
      packs = true;
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
  if (packs)
    releaseConstantPages(op);
  if (call.accumulates)
    start(op.getLoc(), bufferOf(call.accumulates->value), buffers.lookup(op.getResult(0)),
          storageBytes(tensorTypeOf(op.getResult(0))));
  for (auto [written, read] : call.inplace)
    inplace.append({int64_t(written), int64_t(read)});
  if (auto alignments = getAlignments(list); call.wantsAlignment) {
    schema::GpuAlignment fields;
    fields.alignment = alignments.empty() ? kBufferAlignment : *llvm::min_element(alignments);
    call.desc.update(fields.toJson());
  }
  auto made = exec::LibraryOp::create(
      b, op.getLoc(), b.getStringAttr(call.library), b.getStringAttr(call.desc.dump()), list,
      b.getDenseI64ArrayAttr(writes), b.getDenseI64ArrayAttr(inplace),
      b.getF64FloatAttr(call.flops), b.getF64FloatAttr(call.bytes));
  made->setAttr(kImplementationAttr, b.getStringAttr(call.implementation));
  copyCandidates(&op, made);
  return success();
}

void Lowering::start(Location loc, Value from, Value to, int64_t bytes) {
  auto old = from.getDefiningOp<exec::StateOp>(), fresh = to.getDefiningOp<exec::StateOp>();
  if (!old || !fresh || old.getIndex() != fresh.getIndex())
    copy(loc, from, to, bytes);
}

Value Lowering::packed(Location loc, std::shared_ptr<void> data, int64_t bytes, StringRef layout) {
  auto &[kept, buffer] = packedWeights.find(data, bytes, layout, device);
  if (buffer)
    return buffer;
  auto type = RankedTensorType::get({bytes}, b.getI8Type());
  auto attr = ref::Tensor::borrow(type, kept.get(), kept).toResource("packed");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&program.getBody().front());
  return buffer =
             exec::ConstantOp::create(b, loc, exec::BufferType::get(b.getContext(), bytes, device),
                                      attr, b.getStringAttr(layout));
}

} // namespace dlc::lower

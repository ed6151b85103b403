//===- Build.cpp - builds the manifest, constants and code of a program ---===//
#include "codegen/native/Build.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Views.h"
#include "codegen/memory/Memory.h"
#include "codegen/providers/LibraryCall.h"
#include "ir/dlc/Attributes.h"
#include "ir/exec/Exec.h"
#include "passes/Passes.h"
#include "passes/layout/Choose.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/program/Program.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nlohmann::json;

namespace dlc {

namespace {

/// Returns a location as text: "conv1" for a named location, "file:line:col" for a file location.
std::string formatLocation(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    std::string text;
    size_t count = 0;
    for (Location part : fused.getLocations()) {
      std::string one = formatLocation(part);
      if (one.empty() || text.find(one) != std::string::npos)
        continue;
      if (++count > 4)
        return text + " ..";
      text += (text.empty() ? "" : " + ") + one;
    }
    return text;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return formatLocation(call.getCallee());
  return "";
}

/// Converts the reason why each operation was placed on its device to JSON, for `dlc inspect`.
json describePlacement(DictionaryAttr placement) {
  json list = json::array();
  if (auto operations = placement.getAs<ArrayAttr>("operations"))
    for (auto operation : operations.getAsRange<DictionaryAttr>()) {
      json entry;
      for (NamedAttribute part : operation)
        if (auto text = dyn_cast<StringAttr>(part.getValue()))
          entry[part.getName().str()] = text.str();
      list.push_back(entry);
    }
  return list;
}

class ProgramBuilder {
public:
  /// `program` must already contain the machine code of CPU kernels and the modules of GPU kernels.
  ProgramBuilder(exec::ProgramOp op, runtime::Program &program) : op(op), program(program) {
    constants = program.manifest.value("constants", json::array());
    for (auto [i, kernel] : llvm::enumerate(program.manifest["kernels"]))
      kernelIndex[kernel["name"].get<std::string>()] = i;
    for (ArrayRef<exec::LoopOp> group : exec::concurrentLoops(op))
      concurrent.insert(group.begin(), group.end());
  }

  LogicalResult run() {
    if (op->getParentOfType<ModuleOp>()->hasAttr(kReproducibleAttr))
      program.manifest["reproducible"] = true;
    program.manifest["inputs"] = tensors(op.getInputs(), true);
    program.manifest["outputs"] = tensors(op.getOutputs(), false);
    if (auto states = op.getStates())
      program.manifest["state"] = stateTensors(*states);
    program.manifest["arena"] = {{exec::kHost.str(), op.getArena().value_or(0)}};
    if (DictionaryAttr arenas = op.getArenasAttr())
      for (NamedAttribute arena : arenas)
        program.manifest["arena"][arena.getName().str()] =
            cast<IntegerAttr>(arena.getValue()).getInt();
    if (op.getStreamsAttr())
      for (StringRef device : op.getStreamDevices())
        program.manifest["streams"].push_back(device.str());
    auto commands = list(op.getBody().front());
    if (failed(status))
      return failure();
    program.manifest["commands"] = commands;
    program.manifest["buffers"] = buffers;
    program.manifest["constants"] = constants;
    return success();
  }

private:
  json tensors(ArrayAttr infos, bool inputs) {
    json result = json::array();
    for (Attribute attr : infos) {
      auto info = cast<DictionaryAttr>(attr);
      auto type = cast<RankedTensorType>(cast<TypeAttr>(info.get("type")).getValue());
      json tensor{{"name", cast<StringAttr>(info.get("name")).getValue().str()},
                  {"dtype", elementName(type.getElementType())},
                  {"shape", std::vector<int64_t>(type.getShape().begin(), type.getShape().end())}};
      if (std::string device = getTypeDeviceName(type); device != exec::kHost)
        tensor["device"] = device;
      if (StringRef layout = layoutOf(type); !layout.empty())
        tensor["layout"] = layout.str();
      if (auto value = info.getAs<ElementsAttr>("value"))
        tensor["value"] = constant(value, op.getLoc());
      if (auto counted = info.getAs<DenseI64ArrayAttr>("counted"))
        tensor["counted"] = {{"dimension", counted[0]}, {"by", counted[1]}};
      result.push_back(tensor);
    }
    return result;
  }

  static json sharesOf(DictionaryAttr shares) {
    json parts = json::array();
    for (Attribute attr : shares.getAs<ArrayAttr>("parts")) {
      auto part = cast<DictionaryAttr>(attr);
      ArrayRef<int64_t> shape = part.getAs<DenseI64ArrayAttr>("shape").asArrayRef();
      parts.push_back({{"name", part.getAs<StringAttr>("name").getValue().str()},
                       {"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
    }
    return {{"of", shares.getAs<IntegerAttr>("of").getInt()}, {"parts", parts}};
  }

  json stateTensors(ArrayAttr infos) {
    json result = tensors(infos, false);
    for (auto [tensor, attr] : llvm::zip(result, infos)) {
      auto info = cast<DictionaryAttr>(attr);
      if (info.contains("parameter"))
        tensor["parameter"] = true;
      if (auto shares = info.getAs<DictionaryAttr>("shares"))
        tensor["shares"] = sharesOf(shares);
      if (auto part = info.getAs<DenseI64ArrayAttr>("part"))
        tensor["part"] = {{"dimension", part[0]}, {"ranks", part[1]}, {"blocks", part[2]}};
      if (auto init = info.getAs<ElementsAttr>("init"))
        tensor["init"] = constant(init, op.getLoc());
    }
    return result;
  }

  size_t constant(ElementsAttr value, Location loc) {
    auto found = constantIndex.find(value.getAsOpaquePointer());
    if (found != constantIndex.end())
      return found->second;
    auto tensor = ref::Tensor::fromAttr(value);
    if (failed(tensor)) {
      status = emitError(loc, ref::kMissingData);
      return 0;
    }
    // The constant refers to the tensor's memory and shares its ownership. Therefore weights are
    // not copied, and they outlive the MLIR context.
    program.constants.push_back({tensor->data(), size_t(tensor->bytes()), tensor->owner()});
    constants.push_back({{"bytes", tensor->bytes()}});
    return constantIndex[value.getAsOpaquePointer()] = program.constants.size() - 1;
  }

  size_t buffer(Value value) {
    auto found = bufferIndex.find(value);
    if (found != bufferIndex.end())
      return found->second;
    auto [root, offset] = findRootBuffer(value);
    auto type = cast<exec::BufferType>(value.getType());
    json entry{{"bytes", type.getBytes()}};
    if (type.getDevice() != exec::kHost)
      entry["device"] = type.getDevice().str();
    if (int64_t step = getViewStep(value))
      entry["step"] = step;
    llvm::TypeSwitch<Operation *>(root.getDefiningOp())
        .Case<exec::AllocOp>([&](exec::AllocOp alloc) {
          entry["space"] = "arena";
          entry["offset"] = int64_t(*alloc.getOffset()) + offset;
          if (entry.contains("step"))
            entry["within"] = {int64_t(*alloc.getOffset()), alloc.getBuffer().getType().getBytes()};
        })
        .Case<exec::ConstantOp>([&](exec::ConstantOp c) {
          entry["space"] = "constant";
          entry["index"] = constant(c.getValue(), c.getLoc());
          entry["offset"] = offset;
        })
        .Case<exec::InputOp, exec::OutputOp>([&](auto o) {
          entry["space"] = isa<exec::InputOp>(o) ? "input" : "output";
          entry["index"] = o.getIndex();
          entry["offset"] = offset;
        });
    if (auto state = root.getDefiningOp<exec::StateOp>()) {
      entry["space"] = "state";
      entry["index"] = state.getIndex();
      entry["offset"] = offset;
      if (state.getFresh())
        entry["new"] = true;
    }
    buffers.push_back(entry);
    return bufferIndex[value] = buffers.size() - 1;
  }

  json list(Block &block) {
    json result = json::array();
    for (Operation &o : block)
      if (!o.hasTrait<exec::NamesMemory>() && !isCopyToItself(o))
        result.push_back(command(o));
    return result;
  }

  /// Returns true if a command copies a state's old value to its new value at the same offset. Both
  /// share memory, so that the copy is omitted.
  static bool isCopyToItself(Operation &o) {
    auto copy = dyn_cast<exec::CopyOp>(o);
    if (!copy || getViewStep(copy.getFrom()) != 0 || getViewStep(copy.getTo()) != 0)
      return false;
    auto [from, fromOffset] = findRootBuffer(copy.getFrom());
    auto [to, toOffset] = findRootBuffer(copy.getTo());
    auto old = from.getDefiningOp<exec::StateOp>(), fresh = to.getDefiningOp<exec::StateOp>();
    return old && fresh && old.getIndex() == fresh.getIndex() && fromOffset == toOffset;
  }

  /// Returns the index of the manifest's buffer for a command's scratch range in the arena, and
  /// creates the buffer if necessary.
  size_t workspaceBuffer(ArrayRef<int64_t> workspace) {
    auto [at, isNew] = workspaces.try_emplace({workspace[0], workspace[1]}, buffers.size());
    if (isNew)
      buffers.push_back({{"space", "arena"}, {"offset", workspace[0]}, {"bytes", workspace[1]}});
    return at->second;
  }

  json operands(Operation &o) {
    json result = json::array();
    for (Value v : o.getOperands())
      result.push_back(buffer(v));
    return result;
  }

  json command(Operation &o) {
    json c = llvm::TypeSwitch<Operation *, json>(&o)
                 .Case<exec::LaunchOp>([&](exec::LaunchOp l) {
                   if (l.getGrid())
                     return gpuLaunch(l);
                   return json{{"op", "launch"},
                               {"name", l.getKernel().str()},
                               {"kernel", kernelIndex.at(l.getKernel().str())},
                               {"buffers", operands(o)},
                               {"extent", l.getExtent()},
                               {"grain", l.getGrain()},
                               {"scratch", l.getScratch()},
                               {"flops", l.getFlops().convertToDouble()},
                               {"bytes", l.getTraffic().convertToDouble()}};
                 })
                 .Case<exec::LibraryOp>([&](exec::LibraryOp l) {
                   json desc = json::parse(l.getDesc().str());
                   json c{{"op", "library"},
                          {"library", l.getLibrary().str()},
                          {"name", desc.value("kind", json())},
                          {"desc", desc},
                          {"buffers", operands(o)},
                          {"flops", l.getFlops().convertToDouble()},
                          {"bytes", l.getTraffic().convertToDouble()}};
                   if (auto workspace = o.getAttrOfType<DenseI64ArrayAttr>(kWorkspaceAttr))
                     c["room"] = workspaceBuffer(workspace.asArrayRef());
                   return c;
                 })
                 .Case<exec::CopyOp>([&](exec::CopyOp l) {
                   return json{{"op", "copy"},
                               {"name", "copy"},
                               {"from", buffer(l.getFrom())},
                               {"to", buffer(l.getTo())},
                               {"bytes", l.getBytes()}};
                 })
                 .Case<exec::FillOp>([&](exec::FillOp l) {
                   return json{{"op", "fill"}, {"to", buffer(l.getTo())}, {"byte", l.getByte()}};
                 })
                 .Case<exec::IfOp>([&](exec::IfOp l) {
                   return json{{"op", "if"},
                               {"cond", buffer(l.getCondition())},
                               {"then", list(l.getThenRegion().front())},
                               {"else", list(l.getElseRegion().front())}};
                 })
                 .Case<exec::LoopOp>([&](exec::LoopOp l) {
                   json c{{"op", "loop"}, {"body", list(l.getBody().front())}};
                   if (l.getTrip())
                     c["trip"] = buffer(l.getTrip());
                   if (l.getCondition())
                     c["cond"] = buffer(l.getCondition());
                   if (l.getIndex())
                     c["index"] = buffer(l.getIndex());
                   if (l.getConcurrent())
                     c["concurrent"] = true;
                   return c;
                 })
                 .Case<exec::RecordOp>([&](exec::RecordOp l) {
                   return json{{"op", "record"}, {"event", l.getEvent()}};
                 })
                 .Case<exec::WaitOp>([&](exec::WaitOp l) {
                   return json{{"op", "wait"}, {"event", l.getEvent()}};
                 });
    if (unsigned stream = *exec::getStreamNumber(&o))
      c["stream"] = stream;
    // Where commands may run at the same time, launches and library calls list the operands that
    // they write, so that the loader can verify their order again.
    if ((op.getStreamsAttr() || concurrent.contains(op.getBody().findAncestorOpInRegion(o))) &&
        isa<exec::LaunchOp, exec::LibraryOp>(o))
      for (unsigned position : exec::getWrittenOperands(&o))
        c["writes"].push_back(position);
    if (std::string where = formatLocation(o.getLoc()); !where.empty())
      c["loc"] = where;
    if (auto candidates = o.getAttrOfType<ArrayAttr>(kCommandCandidatesAttr))
      for (StringAttr candidate : candidates.getAsRange<StringAttr>())
        c["candidates"].push_back(candidate.str());
    if (auto estimate = o.getAttrOfType<FloatAttr>(kCommandEstimateAttr))
      c["estimate"] = estimate.getValueAsDouble();
    return c;
  }

  json gpuLaunch(exec::LaunchOp l) {
    std::string function = l->getAttrOfType<StringAttr>(kFunctionAttr).getValue().str();
    auto sizes = [](ArrayRef<int32_t> list) {
      return std::vector<int32_t>(list.begin(), list.end());
    };
    return json{{"op", "launch"},
                {"name", function},
                {"kernel", kernelIndex.at(function)},
                {"buffers", operands(*l)},
                {"grid", sizes(*l.getGrid())},
                {"block", sizes(*l.getBlock())},
                {"shared", l.getShared()},
                {"flops", l.getFlops().convertToDouble()},
                {"bytes", l.getTraffic().convertToDouble()}};
  }

  exec::ProgramOp op;
  runtime::Program &program;
  LogicalResult status = success();
  json buffers = json::array(), constants = json::array();
  llvm::DenseMap<Value, size_t> bufferIndex;
  std::map<std::pair<int64_t, int64_t>, size_t> workspaces;
  llvm::DenseMap<const void *, size_t> constantIndex;
  std::map<std::string, size_t> kernelIndex;
  llvm::DenseSet<Operation *> concurrent; ///< loops that run concurrently with other loops
};

} // namespace

FailureOr<std::shared_ptr<runtime::Program>>
buildProgram(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  auto codes = generateCode(module, options, target);
  if (failed(codes))
    return failure();
  auto program = std::make_shared<runtime::Program>();
  std::string image;
  json kernels = json::array();
  for (auto [op, code] : llvm::zip(ModuleKernels(module).cpu, *codes)) {
    auto kernel = cast<exec::KernelOp>(op);
    image.resize((image.size() + 63) / 64 * 64, '\xcc');
    kernels.push_back({{"name", kernel.getSymName().str()}, {"offset", image.size() + code.entry}});
    image += code.bytes;
  }
  json features = json::array();
  if (!kernels.empty()) {
    SmallVector<StringRef> list;
    StringRef(target.features).split(list, ',', -1, false);
    for (StringRef feature : list)
      // Features that the runtime cannot query (such as shadow stacks) are omitted, because
      // generated code does not use them.
      if (feature.consume_front("+") && runtime::isKnownFeature(feature.str()))
        features.push_back(feature.str());
  }
  program->manifest = {{"format", 1},
                       {"name", module.getName().value_or("model").str()},
                       {"producer", "dlc 0.1.0"},
                       {"target", {{"features", features}, {"threads", options.threads}}},
                       {"kernels", kernels}};
  program->code = runtime::copyToOwnedSpan(image.data(), image.size());
  if (auto placement = module->getAttrOfType<DictionaryAttr>(kPlacementAttr))
    program->manifest["placement"] = describePlacement(placement);
  if (auto layouts = module->getAttrOfType<ArrayAttr>(kLayoutsAttr))
    for (StringAttr line : layouts.getAsRange<StringAttr>())
      program->manifest["layouts"].push_back(line.str());
  auto main = *module.getOps<exec::ProgramOp>().begin();
  if (failed(addGpuModules(module, options, *program)))
    return failure();
  if (failed(ProgramBuilder(main, *program).run()))
    return failure();
  return program;
}

} // namespace dlc

//===- Onednn.cpp - what oneDNN can do, as candidates ---------------------===//
#include "codegen/select/OnednnDesc.h"
#include "codegen/select/Select.h"
#include "runtime/library/onednn/Describe.h"

using namespace mlir;

namespace dlc {

std::string elementName(Type element) {
  if (element.isInteger(1))
    return "bool";
  std::string name;
  llvm::raw_string_ostream os(name);
  os << element;
  if (name.starts_with("ui"))
    return "u" + name.substr(2);
  return name;
}

/// Before the library's own name of an implementation.
constexpr llvm::StringLiteral kPrefix = "onednn:";

namespace onednn_desc {

std::string plainTag(int64_t rank) { return std::string("abcdefghijkl").substr(0, rank); }

json argument(ArrayRef<int64_t> dims, Type element, StringRef tag) {
  return {{"dims", list(dims)},
          {"dtype", elementName(element)},
          {"tag", tag.empty() ? plainTag(dims.size()) : tag.str()}};
}

json argument(Value value) {
  auto type = typeOf(value);
  StringRef tag;
  if (auto on = dyn_cast_or_null<OnAttr>(type.getEncoding()))
    tag = on.getLayout();
  return argument(type.getShape(), type.getElementType(), tag);
}

json strided(ArrayRef<int64_t> dims, ArrayRef<int64_t> strides, Type element) {
  return {{"dims", list(dims)}, {"dtype", elementName(element)}, {"strides", list(strides)}};
}

json packedInside(ArrayRef<int64_t> dims, Type element, StringRef plain) {
  json packed = argument(dims, element, "any");
  packed["outside"] = plain.str();
  return packed;
}

Value outside(FusionOp fusion, Value inner) {
  if (auto argument = dyn_cast<BlockArgument>(inner))
    return fusion.getInputs()[argument.getArgNumber()];
  return inner;
}

ConstantOp constantOf(Value value) { return value.getDefiningOp<ConstantOp>(); }

static bool isRecurrent(Operation *op) { return op && isa<LstmOp, GruOp, RnnOp>(op); }

std::optional<LibraryCall> finish(Pending pending, int threads, std::string *why) {
  json request = pending.desc;
  if (auto chosen =
          pending.op ? pending.op->getAttrOfType<StringAttr>(kImplementationAttr) : StringAttr())
    if (StringRef name = chosen.getValue(); name.consume_front(kPrefix))
      pending.desc["impl"] = name.str();
  auto described = onednn::describe(pending.desc, threads);
  if (!described.ok) {
    if (why)
      *why = described.error;
    return std::nullopt;
  }
  LibraryCall call;
  call.library = "onednn";
  call.request = request;
  call.implementation = kPrefix.str() + described.implementation;
  // What it calls its reference for recurrent networks multiplies by its gemm.
  call.isReference =
      StringRef(described.implementation).starts_with("ref") && !isRecurrent(pending.op);
  call.desc = described.desc;
  call.flops = pending.flops;
  std::map<std::string, unsigned> position;
  for (const onednn::Argument &argument : described.arguments) {
    position[argument.name] = call.arguments.size();
    call.bytes += double(argument.bytes);
    bool found = false;
    for (auto &[name, source] : pending.sources)
      if (name == argument.name) {
        call.arguments.push_back(source);
        found = true;
        break;
      }
    for (auto &pack : pending.packs) {
      if (found || pack.name != argument.name)
        continue;
      CallArgument packed{CallArgument::Kind::Packed};
      packed.bytes = int64_t(argument.bytes);
      packed.layout = argument.tag;
      packed.pack = [desc = described.desc, pack,
                     threads](std::string &error) -> std::shared_ptr<void> {
        auto result =
            onednn::packWeights(desc, pack.name, pack.plain.data(), pack.tag, "", threads);
        if (!result.ok)
          error = result.error;
        return result.ok ? result.data : nullptr;
      };
      call.arguments.push_back(packed);
      found = true;
    }
    if (!found) {
      if (why)
        *why = "oneDNN wants an argument '" + argument.name + "' that has no source";
      return std::nullopt;
    }
  }
  if (described.scratchpadBytes > 0) {
    CallArgument scratch{CallArgument::Kind::Scratch};
    scratch.bytes = int64_t(described.scratchpadBytes);
    call.arguments.push_back(scratch);
  }
  call.accumulates = pending.accumulates;
  for (auto &[written, read] : pending.inplace)
    if (position.count(written) && position.count(read))
      call.inplace.push_back({position[written], position[read]});
  return call;
}

} // namespace onednn_desc

int64_t storageBytes(RankedTensorType type) {
  auto on = dyn_cast_or_null<OnAttr>(type.getEncoding());
  if (on && !on.getLayout().empty())
    if (auto bytes = onednn::layoutBytes(
            onednn_desc::argument(type.getShape(), type.getElementType(), on.getLayout())))
      return int64_t(*bytes);
  return type.getNumElements() * ref::elementBytes(type.getElementType());
}

std::vector<std::string> onednnImplementations(const LibraryCall &call, int threads) {
  constexpr size_t worthMeasuring = 3;
  std::vector<std::string> names;
  for (auto &described : onednn::describeAll(call.request, threads))
    // The reference implementations are for tests; repetitions of a name differ in nothing that is
    // seen.
    if (described.ok && names.size() < worthMeasuring &&
        described.implementation.rfind("ref", 0) != 0 &&
        described.implementation.find('#') == std::string::npos)
      names.push_back(kPrefix.str() + described.implementation);
  return names;
}

std::optional<LibraryCall> onednnCall(Operation *op, int threads, std::string *why) {
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    if (auto call = onednn_desc::contraction(fusion, threads, why))
      return call;
    if (auto call = onednn_desc::training(fusion, threads, why))
      return call;
    // A lone transpose or cast.
    auto &body = fusion.getBody().front();
    if (std::distance(body.begin(), body.end()) == 2)
      return onednn_desc::movement(op, threads, why);
    return std::nullopt;
  }
  if (isa<LstmOp, GruOp, RnnOp>(op))
    return onednn_desc::recurrent(op, threads, why);
  if (auto call = onednn_desc::training(op, threads, why))
    return call;
  return onednn_desc::movement(op, threads, why);
}

} // namespace dlc

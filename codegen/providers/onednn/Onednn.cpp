//===- Onednn.cpp - oneDNN implementations as candidates ------------------===//
#include "codegen/providers/Provider.h"
#include "codegen/providers/onednn/Describe.h"
#include "codegen/providers/onednn/Layouts.h"
#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc {

/// Prefix that precedes oneDNN's own implementation names in dlc's names.
constexpr llvm::StringLiteral kPrefix = "onednn:";

namespace onednn_desc {

using nlohmann::json;

std::string plainTag(int64_t rank) { return std::string("abcdefghijkl").substr(0, rank); }

schema::Layout describeArgument(ArrayRef<int64_t> dims, Type element, StringRef tag) {
  schema::Layout layout;
  layout.dims = list(dims);
  layout.dtype = elementName(element);
  layout.tag = tag.empty() ? plainTag(dims.size()) : tag.str();
  return layout;
}

schema::Layout describeArgument(Value value) {
  auto type = typeOf(value);
  return describeArgument(type.getShape(), type.getElementType(), layoutOf(type));
}

schema::Layout describeStrided(ArrayRef<int64_t> dims, ArrayRef<int64_t> strides,
                               std::string dtype) {
  schema::Layout layout;
  layout.dims = list(dims);
  layout.dtype = std::move(dtype);
  layout.strides = list(strides);
  return layout;
}

schema::Layout describeRepackedWeights(ArrayRef<int64_t> dims, Type element, StringRef plain) {
  schema::Layout packed = describeArgument(dims, element, "any");
  packed.outside = plain.str();
  return packed;
}

schema::Layout describeArgument(const TensorDesc &desc) {
  return desc.strides.empty() ? describeArgument(desc.dims, desc.element, desc.layout)
                              : describeStrided(desc.dims, desc.strides, elementName(desc.element));
}

void Description::setMathMode(Operation *op) {
  if (auto math = op->getAttrOfType<StringAttr>(kMathAttr); math && math == "bf16")
    call.math = schema::MathMode::Bf16;
}

json Description::toJson() const {
  json desc = call.toJson();
  desc.update(arguments.toJson());
  std::visit(
      [&](const auto &own) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(own)>, std::monostate>)
          desc.update(own.toJson());
      },
      parameters);
  return desc;
}

bool addEpilogueOps(const std::vector<EpilogueStep> &steps, PendingCall &call,
                    const OnednnQuery &query) {
  for (auto [i, step] : llvm::enumerate(steps)) {
    auto op = describeStep<schema::OnednnPostOp>(step);
    if (op.alg && StringRef(nameOf(*op.alg)).empty())
      return query.refuse("oneDNN has no epilogue op " + step.name()), false;
    if (step.kind == EpilogueStep::Kind::Binary) {
      const schema::Layout operand = describeArgument(step.operand);
      static_cast<schema::LayoutFields &>(op) = operand;
      op.dims = operand.dims;
      call.sources.push_back({"post" + std::to_string(i), step.source});
    }
    call.desc.call.postOps.push_back(std::move(op));
  }
  return true;
}

static bool isRecurrent(Operation *op) { return op && op->hasTrait<Recurrent>(); }

std::optional<QueryResult> completeCall(PendingCall pending, const OnednnQuery &query) {
  if (!query.implementation.empty())
    pending.desc.call.impl = query.implementation;
  int threads = query.threads;
  json request = pending.desc.toJson();
  std::shared_ptr<const onednn::OperationDescription> described = onednn::ask(request, threads);
  if (!described->ok)
    return query.refuse(described->error);
  LibraryCall call;
  call.library = "onednn";
  call.implementation = kPrefix.str() + described->implementation;
  // oneDNN's "reference" for recurrent networks is not slow: it uses oneDNN's GEMM.
  call.isReference = described->properties.isReference && !isRecurrent(pending.op);
  call.desc = described->desc;
  call.flops = pending.flops;
  std::map<std::string_view, unsigned> position;
  for (const onednn::Argument &argument : described->arguments) {
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
      packed.pack = [described, pack, threads](std::string &error) -> std::shared_ptr<void> {
        auto result = onednn::packWeights(described->desc, pack.name, pack.plain.data(), pack.tag,
                                          "", threads);
        if (!result.ok)
          error = result.error;
        return result.ok ? result.data : nullptr;
      };
      call.arguments.push_back(packed);
      found = true;
    }
    if (!found)
      return query.refuse("oneDNN requires an argument '" + argument.name +
                          "' that the operation does not have");
  }
  if (described->scratchpadBytes > 0) {
    CallArgument scratch{CallArgument::Kind::Scratch};
    scratch.bytes = int64_t(described->scratchpadBytes);
    call.arguments.push_back(scratch);
  }
  call.accumulates = pending.accumulates;
  for (auto &[written, read] : pending.inplace)
    if (position.count(written) && position.count(read))
      call.inplace.push_back({position[written], position[read]});
  return QueryResult{std::move(call), described->properties, std::move(request)};
}

} // namespace onednn_desc

namespace {

using namespace onednn_desc;
using nlohmann::json;

std::optional<QueryResult> ask(Operation *op, const OnednnQuery &query) {
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    if (auto answer = queryContraction(fusion, query))
      return answer;
    if (auto answer = queryTraining(fusion, query))
      return answer;
    // A fusion that contains a single op may be a transpose.
    auto &body = fusion.getBody().front();
    if (std::distance(body.begin(), body.end()) == 2)
      return queryMovement(op, query);
    return std::nullopt;
  }
  if (isRecurrent(op))
    return queryRecurrent(op, query);
  if (auto answer = queryTraining(op, query))
    return answer;
  return queryMovement(op, query);
}

/// Returns oneDNN's best implementations for the request, in the order of its preference.
std::vector<onednn::OperationDescription> listImplementations(const json &request, int threads) {
  constexpr size_t worthMeasuring = 3;
  std::vector<onednn::OperationDescription> found;
  for (auto &described : onednn::describeAll(request, threads))
    // Reference implementations are meant for tests. No visible property distinguishes
    // implementations with the same name.
    if (described.ok && found.size() < worthMeasuring && !described.properties.isReference &&
        !described.properties.isRepeated)
      found.push_back(std::move(described));
  return found;
}

/// Returns true if the estimates can distinguish oneDNN's implementations of this call: f32 matmuls
/// whose weights are not packed.
bool canRankImplementations(const LibraryCall &call) {
  if (schema::OnednnCall::read(call.desc, call.library).kind != schema::OnednnKind::Matmul)
    return false;
  const auto arguments = schema::OnednnArguments::read(call.desc, call.library);
  return arguments.src->dtype == "f32" && arguments.weights->strides;
}

/// Keys in dlc.parameters: oneDNN's name of the implementation, and whether a single thread
/// executes the call.
constexpr llvm::StringLiteral kImplementation = "implementation", kAlone = "alone";

/// Returns true if a single thread should execute all time steps of a recurrent network. Several
/// threads synchronize after each step, because each step depends on the previous one. They are
/// slower if the time that they save per step is less than that of the synchronization, which is
/// estimated as the fraction kMeeting of the time to wake a thread.
bool prefersSingleThread(Operation *op, const CostModel &cost) {
  constexpr double kMeeting = 0.33;
  if (!isRecurrent(op) || cost.threads <= 1 || cost.machine.recurrentGflops <= 0)
    return false;
  double saved = getFlopsPerStep(op) / cost.machine.recurrentGflops * (1 - 1 / cost.threads) / 1000;
  return saved < kMeeting * cost.machine.wake;
}

class OnednnProvider : public Provider {
public:
  OnednnProvider()
      : Provider(
            {.name = "onednn",
             .description = "oneDNN: matmuls, convolutions, pools, recurrent layers, reorders"}) {}

  void propose(CandidateCollector &collector) const override {
    Builder b(collector.op->getContext());
    bool alone = prefersSingleThread(collector.op, collector.cost);
    int threads = alone ? 1 : collector.selection.threads;
    CostModel cost = collector.cost;
    cost.threads = alone ? 1 : cost.threads;
    std::string why;
    auto answer = ask(collector.op, {threads, "", &why, alone});
    if (!answer)
      return collector.refuse(about.name, why);
    LibraryCall &call = answer->call;
    auto add = [&](const std::string &implementation, const onednn::Implementation &properties,
                   double factor) {
      call.implementation = kPrefix.str() + implementation;
      SmallVector<NamedAttribute> parameters{
          b.getNamedAttr(kImplementation, b.getStringAttr(implementation))};
      if (alone)
        parameters.push_back(b.getNamedAttr(kAlone, b.getUnitAttr()));
      collector.add(about.name, call, estimate(call, properties, cost) * factor,
                    b.getDictionaryAttr(parameters));
    };
    std::string first = StringRef(call.implementation).drop_front(kPrefix.size()).str();
    add(first, answer->implementation, 1);
    if (!collector.selection.every && !canRankImplementations(call))
      return;
    // The cost model hardly distinguishes these implementations, so each one gets a slightly longer
    // time than the previous one in oneDNN's order.
    constexpr double kLater = 1.001;
    double later = kLater;
    for (const auto &other : listImplementations(answer->request, threads))
      if (other.implementation != first) {
        add(other.implementation, other.properties, later);
        later *= kLater;
      }
  }

  std::optional<LibraryCall> call(Operation *op, DictionaryAttr parameters, int threads,
                                  std::string *why) const override {
    auto named = parameters ? parameters.getAs<StringAttr>(kImplementation) : StringAttr();
    bool alone = parameters && parameters.contains(kAlone);
    auto answer = ask(op, {alone ? 1 : threads, named ? named.getValue().str() : "", why, alone});
    return answer ? std::optional(std::move(answer->call)) : std::nullopt;
  }

  std::optional<LayoutPair> preferredLayouts(Operation *op,
                                             const std::optional<LayoutPair> &required,
                                             int threads) const override {
    return queryLayouts(op, required, threads);
  }
  std::optional<int64_t> layoutBytes(RankedTensorType type) const override {
    auto bytes = onednn::layoutBytes(
        describeArgument(type.getShape(), type.getElementType(), layoutOf(type)).toJson());
    return bytes ? std::optional(int64_t(*bytes)) : std::nullopt;
  }
  bool sumsInt8Exactly() const override { return onednn::sumsInt8Exactly(); }
  bool sharesUnits(StringRef implementation) const override {
    return onednn::parseImplementation(implementation).isAmx;
  }
  std::string version() const override { return onednn::libraryVersion(); }
};

} // namespace

const Provider &provide::onednn() {
  static const OnednnProvider provider;
  return provider;
}

} // namespace dlc

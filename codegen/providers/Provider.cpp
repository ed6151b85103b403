//===- Provider.cpp - queries providers for candidates --------------------===//
#include "codegen/providers/Provider.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/machine/Work.h"
#include "ir/dlc/Attributes.h"
#include "ir/tensor/Tensor.h"
#include "passes/layout/Tag.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc {

bool isRepeated(Operation *op) { return bool(op->getParentOfType<LoopOp>()); }

/// Returns true if the operation's constant weights remain in the nearest caches between loop
/// iterations.
static bool weightsStayCached(Operation *op, const Machine &machine) {
  double bytes = 0;
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp<ConstantOp>())
      bytes += double(storageBytes(cast<RankedTensorType>(operand.getType())));
  return isRepeated(op) && bytes <= machine.nearBytes;
}

CandidateCollector::CandidateCollector(Operation *op, const SelectionContext &selection)
    : op(op), fusion(dyn_cast<FusionOp>(op)), selection(selection),
      cost(selection.profile, selection.target, selection.threads,
           weightsStayCached(op, selection.profile.machine)) {}

CandidateCollector::~CandidateCollector() {
  if (normalized)
    normalized.erase();
}

void CandidateCollector::add(StringRef kernel, const LibraryCall &call, double microseconds,
                             DictionaryAttr parameters) {
  Candidate candidate{kernel.str(), call.implementation, parameters, microseconds};
  candidate.workspace = call.workspace;
  for (const CallArgument &argument : call.arguments)
    if (argument.kind == CallArgument::Kind::Scratch)
      candidate.workspace += argument.bytes;
  candidate.isReference = call.isReference;
  add(std::move(candidate));
}

void CandidateCollector::refuse(StringRef who, StringRef why) {
  refusals += ("; " + who + ": " + why).str();
}

FusionOp CandidateCollector::normal(std::string &why) {
  if (!whyNot) {
    whyNot = "";
    auto made = cpu::canEmitKernel(fusion, &*whyNot) ? cpu::normalizeFusion(fusion, *whyNot)
                                                     : FailureOr<FusionOp>(failure());
    if (succeeded(made))
      normalized = *made;
  }
  why = *whyNot;
  return normalized;
}

std::optional<LibraryCall> Provider::call(Operation *, DictionaryAttr, int,
                                          std::string *why) const {
  if (why)
    *why = (about.name + " is not a library").str();
  return std::nullopt;
}

FailureOr<Schedule> Provider::schedule(FusionOp, FusionOp, const cpu::Target &, bool,
                                       std::string &why) const {
  why = (about.name + " does not generate code").str();
  return failure();
}

void CallProvider::propose(CandidateCollector &collector) const {
  Builder b(collector.op->getContext());
  bool isFirst = true;
  for (int64_t variant : variants(collector)) {
    std::string why;
    DictionaryAttr parameters;
    if (!about.parameter.empty())
      parameters =
          b.getDictionaryAttr(b.getNamedAttr(about.parameter, b.getI64IntegerAttr(variant)));
    if (auto call = make(collector.op, variant, collector.selection.threads, &why))
      collector.add(about.name, *call, estimate(*call, collector.cost), parameters);
    else if (isFirst && !why.empty())
      collector.refuse(about.name, why);
    isFirst = false;
  }
}

std::optional<LibraryCall> CallProvider::call(Operation *op, DictionaryAttr parameters, int threads,
                                              std::string *why) const {
  if (about.parameter.empty())
    return make(op, 0, threads, why);
  if (auto variant = parameters ? parameters.getAs<IntegerAttr>(about.parameter) : IntegerAttr())
    return make(op, variant.getInt(), threads, why);
  if (why)
    *why = ("required: '" + about.parameter + "' in dlc.parameters, for kernels of " + about.name)
               .str();
  return std::nullopt;
}

bool hasExactInt8Library() {
  return llvm::any_of(providers(), [](const Provider *p) { return p->sumsInt8Exactly(); });
}

int64_t storageBytes(RankedTensorType type) {
  StringRef layout = layoutOf(type);
  if (layout.empty())
    return ref::storageBytes(type);
  int64_t elements = type.getNumElements(), bytes = ref::elementBytes(type.getElementType());
  if (auto tag = Tag::parse(layout); tag && int64_t(tag->order.size()) == type.getRank()) {
    if (int64_t dim = tag->blockedDim; dim >= 0 && elements > 0)
      elements = elements / type.getDimSize(dim) *
                 int64_t(llvm::alignTo(uint64_t(type.getDimSize(dim)), uint64_t(tag->block)));
    return elements * bytes;
  }
  for (const Provider *provider : providers())
    if (std::optional<int64_t> known = provider->layoutBytes(type))
      return *known;
  return elements * bytes;
}

const Provider *findProvider(StringRef name) {
  for (const Provider *provider : providers())
    if (provider->about.name == name)
      return provider;
  return nullptr;
}

const Provider *findProvider(Operation *op) {
  auto kernel = op->getAttrOfType<StringAttr>(kKernelAttr);
  return kernel ? findProvider(kernel.getValue()) : nullptr;
}

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const Provider *provider : providers())
    for (StringRef name : {StringRef(provider->about.name), StringRef(provider->about.family)})
      if (!name.empty() && !llvm::is_contained(names, name))
        names.push_back(name.str());
  return names;
}

bool matchesProviderName(StringRef asked, const Provider &provider) {
  return asked == provider.about.name || (!asked.empty() && asked == provider.about.family);
}

/// Sorts candidates by estimated time. Drops reference implementations if there is any other
/// candidate.
static std::vector<Candidate> sortCandidates(std::vector<Candidate> candidates,
                                             std::string &refusals) {
  if (llvm::any_of(candidates, [](auto &c) { return !c.isReference; }))
    llvm::erase_if(candidates, [&](const Candidate &c) {
      if (c.isReference)
        refusals += "; " + c.implementation +
                    ": a reference implementation, and others support the operation";
      return c.isReference;
    });
  llvm::stable_sort(candidates, [](auto &a, auto &c) { return a.estimate < c.estimate; });
  return candidates;
}

std::vector<Candidate> candidatesFor(Operation *op, const SelectionContext &selection,
                                     std::string &refusals) {
  CandidateCollector collector(op, selection);
  for (const Provider *provider : providers())
    if (provider->about.onGpu == !selection.device.empty() &&
        (selection.generated || provider->about.kind == KernelKind::Call))
      provider->propose(collector);
  refusals += collector.refusals;
  if (selection.device.empty() && !selection.profile.corrections.empty()) {
    WorkFeatures work = getWorkFeatures(op);
    for (Candidate &candidate : collector.candidates)
      if (!candidate.isReference)
        candidate.estimate *= selection.profile.corrections.factor(candidate.implementation, work);
  }
  return sortCandidates(std::move(collector.candidates), refusals);
}

void preferKernels(std::vector<Candidate> &candidates, StringRef asked) {
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate &c) {
    const Provider *provider = findProvider(c.kernel);
    return provider && matchesProviderName(asked, *provider);
  });
}

std::optional<LibraryCall> describeLibraryCall(Operation *op, int threads, std::string *why) {
  const Provider *provider = findProvider(op);
  if (provider)
    return provider->call(op, op->getAttrOfType<DictionaryAttr>(kParametersAttr), threads, why);
  if (why)
    *why = "its kernel is unknown";
  return std::nullopt;
}

} // namespace dlc

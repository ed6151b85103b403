//===- Provider.cpp - queries providers for candidates --------------------===//
#include "codegen/providers/Provider.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/machine/Work.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc {

bool isRepeated(Operation *op) { return bool(op->getParentOfType<LoopOp>()); }

/// Returns true if the operation's weights stay in the nearest caches between loop iterations.
static bool weightsStay(Operation *op, const Machine &machine) {
  double bytes = 0;
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp<ConstantOp>())
      bytes += double(storageBytes(cast<RankedTensorType>(operand.getType())));
  return isRepeated(op) && bytes <= machine.nearBytes;
}

Proposals::Proposals(Operation *op, const Situation &situation)
    : op(op), fusion(dyn_cast<FusionOp>(op)), situation(situation),
      cost(situation.profile, situation.target, situation.threads,
           weightsStay(op, situation.profile.machine)) {}

Proposals::~Proposals() {
  if (normalized)
    normalized.erase();
}

void Proposals::add(StringRef kernel, const LibraryCall &call, double microseconds,
                    DictionaryAttr parameters) {
  Candidate candidate{kernel.str(), call.implementation, parameters, microseconds};
  candidate.workspace = call.workspace;
  for (const CallArgument &argument : call.arguments)
    if (argument.kind == CallArgument::Kind::Scratch)
      candidate.workspace += argument.bytes;
  candidate.isReference = call.isReference;
  add(std::move(candidate));
}

void Proposals::refuse(StringRef who, StringRef why) {
  refusals += ("; " + who + ": " + why).str();
}

FusionOp Proposals::normal(std::string &why) {
  if (!whyNot) {
    whyNot = "";
    auto made = cpu::canEmit(fusion, &*whyNot) ? cpu::normalize(fusion, *whyNot)
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

void CallProvider::propose(Proposals &proposals) const {
  Builder b(proposals.op->getContext());
  bool isFirst = true;
  for (int64_t way : ways(proposals)) {
    std::string why;
    DictionaryAttr parameters;
    if (!about.parameter.empty())
      parameters = b.getDictionaryAttr(b.getNamedAttr(about.parameter, b.getI64IntegerAttr(way)));
    if (auto call = make(proposals.op, way, proposals.situation.threads, &why))
      proposals.add(about.name, *call, estimate(*call, proposals.cost), parameters);
    else if (isFirst && !why.empty())
      proposals.refuse(about.name, why);
    isFirst = false;
  }
}

std::optional<LibraryCall> CallProvider::call(Operation *op, DictionaryAttr parameters, int threads,
                                              std::string *why) const {
  if (about.parameter.empty())
    return make(op, 0, threads, why);
  if (auto way = parameters ? parameters.getAs<IntegerAttr>(about.parameter) : IntegerAttr())
    return make(op, way.getInt(), threads, why);
  if (why)
    *why = ("required: '" + about.parameter + "' in dlc.parameters, for kernels of " + about.name)
               .str();
  return std::nullopt;
}

const Provider *providerOf(StringRef name) {
  for (const Provider *provider : providers())
    if (provider->about.name == name)
      return provider;
  return nullptr;
}

const Provider *providerOf(Operation *op) {
  auto kernel = op->getAttrOfType<StringAttr>(kKernelAttr);
  return kernel ? providerOf(kernel.getValue()) : nullptr;
}

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const Provider *provider : providers())
    for (StringRef name : {StringRef(provider->about.name), StringRef(provider->about.family)})
      if (!name.empty() && !llvm::is_contained(names, name))
        names.push_back(name.str());
  return names;
}

bool means(StringRef asked, const Provider &provider) {
  return asked == provider.about.name || (!asked.empty() && asked == provider.about.family);
}

/// Sorts candidates by estimate. Drops reference implementations if there is any other candidate.
static std::vector<Candidate> ordered(std::vector<Candidate> candidates, std::string &refusals) {
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

std::vector<Candidate> candidatesFor(Operation *op, const Situation &situation,
                                     std::string &refusals) {
  Proposals proposals(op, situation);
  for (const Provider *provider : providers())
    if (provider->about.onGpu == !situation.device.empty() &&
        (situation.generated || provider->about.form == KernelForm::Call))
      provider->propose(proposals);
  refusals += proposals.refusals;
  if (situation.device.empty() && !situation.profile.corrections.empty()) {
    Work work = workOf(op);
    for (Candidate &candidate : proposals.candidates)
      if (!candidate.isReference)
        candidate.estimate *= situation.profile.corrections.factor(candidate.implementation, work);
  }
  return ordered(std::move(proposals.candidates), refusals);
}

void preferKernels(std::vector<Candidate> &candidates, StringRef asked) {
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate &c) {
    const Provider *provider = providerOf(c.kernel);
    return provider && means(asked, *provider);
  });
}

std::optional<LibraryCall> callOf(Operation *op, int threads, std::string *why) {
  const Provider *provider = providerOf(op);
  if (provider)
    return provider->call(op, op->getAttrOfType<DictionaryAttr>(kParametersAttr), threads, why);
  if (why)
    *why = "its kernel is unknown";
  return std::nullopt;
}

} // namespace dlc

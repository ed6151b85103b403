//===- Tune.cpp - the choice by measurement -------------------------------===//
#include "codegen/select/Tune.h"

#include "codegen/select/Agree.h"
#include "codegen/select/Contest.h"
#include "codegen/select/Select.h"
#include "runtime/library/onednn/Describe.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

namespace dlc {

namespace {

/// To be raised when generated kernels become faster or slower: older figures are then no longer found.
constexpr int kGeneratedRevision = 1;

} // namespace

TuningConditions conditionsOf(ModuleOp module, const CompileOptions &options, const cpu::Target &target) {
  TuningConditions conditions;
  double bytes = 0;
  module.walk([&](ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getY().getType());
    bytes += double(type.getNumElements() * ref::elementBytes(type.getElementType()));
  });
  conditions.coldWeights = bytes > Machine().cacheBytes;
  llvm::raw_string_ostream os(conditions.text);
  os << "dlc 0.1." << kGeneratedRevision << " llvm " << LLVM_VERSION_STRING << ", " << onednn::libraryVersion() << ", " << target.cpu
     << " " << target.vectorBits << " " << llvm::hash_value(StringRef(target.features)) << ", " << options.threads << " threads, weights "
     << (conditions.coldWeights ? "cold" : "warm");
  return conditions;
}

std::string tuningKey(Operation *op, const TuningConditions &conditions) {
  std::string key = conditions.text + "\n";
  llvm::raw_string_ostream os(key);
  os << op->getName();
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!attribute.getName().getValue().starts_with("dlc."))
      os << " " << attribute.getName().getValue() << "=" << attribute.getValue();
  os << " (";
  for (Value operand : op->getOperands())
    os << (operand.getDefiningOp<ConstantOp>() ? "constant " : "") << operand.getType() << ", ";
  os << ") -> " << op->getResultTypes() << "\n";
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
    AsmState state(op, flags);
    for (Operation &inner : fusion.getBody().front()) {
      inner.print(os, state);
      os << "\n";
    }
  }
  return key;
}

std::optional<TunedEntry> measureCandidates(Operation *op, ArrayRef<Candidate> candidates, const TuningConditions &conditions,
                             const CompileOptions &options, const cpu::Target &target) {
  std::vector<Contestant> contestants;
  TunedEntry entry;
  TrialOperands operands(op);
  std::vector<const std::vector<ref::Tensor> *> results;
  auto reject = [&](const Candidate &candidate, const std::string &reason) {
    entry.push_back({candidate.kernel, candidate.implementation, 0, 0, 0, reason.empty() ? "it cannot be made" : reason});
  };
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    std::string reason;
    auto trial = Trial::create(op, candidate, operands, options, target, reason);
    if (!trial || !trial->run(reason)) {
      reject(candidate, reason);
      continue;
    }
    contestants.emplace_back();
    contestants.back().candidate = i;
    contestants.back().trial = std::move(trial);
  }
  for (Contestant &c : contestants)
    results.push_back(&c.trial->results());
  std::vector<std::string> wrong = whoIsWrong(op, operands, results);
  for (size_t i = contestants.size(); i-- > 0;)
    if (!wrong[i].empty()) {
      reject(candidates[contestants[i].candidate], wrong[i]);
      contestants.erase(contestants.begin() + i);
    }
  if (contestants.empty() || !runContest(contestants, conditions.coldWeights))
    return std::nullopt;
  TunedEntry measured;
  for (Contestant &c : contestants) {
    const Candidate &candidate = candidates[c.candidate];
    if (!c.failed.empty())
      reject(candidate, c.failed);
    else
      measured.push_back({candidate.kernel, candidate.implementation, c.best(), c.middle(), c.runs, ""});
  }
  llvm::stable_sort(measured, [](auto &x, auto &y) { return x.minMicroseconds < y.minMicroseconds; });
  measured.insert(measured.end(), entry.begin(), entry.end());
  return measured;
}

void applyMeasurement(const TunedEntry &entry, std::vector<Candidate> &candidates) {
  for (const TunedCandidate &tuned : entry) {
    auto found = llvm::find_if(candidates, [&](const Candidate &c) {
      return c.kernel == tuned.kernel && c.implementation == tuned.implementation;
    });
    if (!tuned.rejected.empty()) {
      // One that gave wrong results stays out, where another can do the work.
      if (found != candidates.end() && candidates.size() > 1 && !StringRef(tuned.rejected).starts_with("not measured"))
        candidates.erase(found);
      continue;
    }
    if (found == candidates.end()) {
      // Another of a library's implementations; its provider must still be one that can do it.
      auto same = llvm::find_if(candidates, [&](const Candidate &c) { return c.kernel == tuned.kernel; });
      if (same == candidates.end())
        continue;
      Candidate other = *same;
      other.implementation = tuned.implementation;
      found = candidates.insert(candidates.end(), other);
    }
    found->measured = tuned.minMicroseconds;
  }
  llvm::stable_sort(candidates, [](const Candidate &x, const Candidate &y) {
    if (x.measured.has_value() != y.measured.has_value())
      return x.measured.has_value();
    return x.measured ? *x.measured < *y.measured : x.estimate < y.estimate;
  });
  // Among equals the one that would be taken anyway.
  constexpr double kEqual = 1.02;
  auto first = candidates.begin();
  for (auto c = candidates.begin(); c != candidates.end() && c->measured && *c->measured <= kEqual * *candidates[0].measured; ++c)
    if (c->estimate < first->estimate)
      first = c;
  std::rotate(candidates.begin(), first, first + 1);
}

} // namespace dlc

//===- Parts.cpp - parts of a concatenation that share their code ---------===//
#include "codegen/cpu/kernel/Parts.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

/// Compares the computations of two operands of a concatenation, to find out whether the same code
/// can compute both.
class ConcatOperandComparison {
public:
  explicit ConcatOperandComparison(ConcatOp concat) : concat(concat) {}

  /// Returns the fusion's arguments that differ between the computations of `a` and `b`: those of
  /// `a`, each with the distance to the index of the corresponding argument of `b`. Returns nothing
  /// if the computations differ in anything else, or if other operations use values that differ.
  using Operands = decltype(ConcatOperandRun::operands);
  std::optional<Operands> operands(Value a, Value b) {
    found.clear(), result.clear();
    if (!isAlike(a, b))
      return std::nullopt;
    for (auto &[value, match] : found)
      if (match.varies && !llvm::all_of(value.getUsers(), [&](Operation *user) {
            return user == concat || (user->getNumResults() > 0 && varies(user->getResult(0)));
          }))
        return std::nullopt;
    return result;
  }

private:
  struct Match {
    Value other;
    /// Whether the value depends on an argument that differs between the two operands.
    bool varies = false;
  };

  bool varies(Value value) const { return found.lookup(value).varies; }

  bool isAlike(Value a, Value b) {
    if (Value other = found.lookup(a).other)
      return other == b;
    if (a.getType() != b.getType())
      return false;
    Match match{b};
    auto argument = dyn_cast<BlockArgument>(a), other = dyn_cast<BlockArgument>(b);
    if (argument && other) {
      match.varies = argument != other;
      if (match.varies)
        result.push_back({argument, int64_t(other.getArgNumber()) - argument.getArgNumber()});
    } else {
      Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
      if (!x || !y || x->getName() != y->getName() || x->getNumRegions() > 0 ||
          x->getNumOperands() != y->getNumOperands() ||
          cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber() ||
          x->getAttrDictionary() != y->getAttrDictionary())
        return false;
      for (auto [from, to] : llvm::zip(x->getOperands(), y->getOperands())) {
        if (!isAlike(from, to))
          return false;
        match.varies |= varies(from);
      }
    }
    found[a] = match;
    return true;
  }

  ConcatOp concat;
  llvm::DenseMap<Value, Match> found;
  Operands result;
};

} // namespace

SmallVector<ConcatOperandRun> groupSimilarOperands(ConcatOp concat) {
  SmallVector<ConcatOperandRun> runs;
  ConcatOperandComparison comparison(concat);
  int64_t offset = 0;
  for (auto [i, value] : llvm::enumerate(concat.getXs())) {
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(concat.getAxis());
    ConcatOperandRun *run = runs.empty() ? nullptr : &runs.back();
    auto operands = run ? comparison.operands(concat.getXs()[run->first], value) : std::nullopt;
    // The first two operands of a run determine the distance between the buffers of corresponding
    // arguments. Later operands must have the same distances.
    if (operands && run->count == 1)
      run->operands = *operands;
    auto isNext = [&](auto pair) {
      auto [found, step] = pair;
      return found.first == step.first && found.second == step.second * run->count;
    };
    if (operands && operands->size() == run->operands.size() &&
        llvm::all_of(llvm::zip(*operands, run->operands), isNext))
      ++run->count;
    else
      runs.push_back({unsigned(i), 1, offset, size, {}});
    offset += size;
  }
  return runs;
}

void emitPart(Emitter &e, KernelFrame &frame, ConcatOp joined, const ConcatOperandRun &run,
              Value part, function_ref<void(Value)> body) {
  e.pushScope();
  Value offset = e.binary("add", e.binary("mul", part, e.i64(run.size)), e.i64(run.offset));
  if (joined)
    e.bindPart(joined, run.first, offset);
  SmallVector<Value> first;
  for (auto [argument, distance] : run.operands) {
    Value place = e.binary("mul", part, e.i64(distance));
    first.push_back(e.bindBuffer(
        argument, frame.buffer(e.binary("add", place, e.i64(argument.getArgNumber())))));
  }
  body(offset);
  for (auto [operand, pointer] : llvm::zip(run.operands, first))
    e.bindBuffer(operand.first, pointer);
  e.popScope();
}

} // namespace dlc::cpu

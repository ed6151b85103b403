//===- Fold.cpp - combines many terms into one, in vectors of partial results ---===//
#include "codegen/cpu/emit/Accumulation.h"

using namespace mlir;

namespace dlc::cpu {

namespace detail {

vector::CombiningKind getCombiningKind(ReduceKind kind, Type element) {
  bool isFloat = isa<FloatType>(element), u = isUnsigned(element);
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return vector::CombiningKind::ADD;
  case ReduceKind::prod:
    return vector::CombiningKind::MUL;
  case ReduceKind::max:
    return isFloat ? vector::CombiningKind::MAXNUMF
           : u     ? vector::CombiningKind::MAXUI
                   : vector::CombiningKind::MAXSI;
  case ReduceKind::min:
    return isFloat ? vector::CombiningKind::MINNUMF
           : u     ? vector::CombiningKind::MINUI
                   : vector::CombiningKind::MINSI;
  }
  llvm_unreachable("reduce kind");
}

Value emitFloatConstant(Emitter &e, Type like, double value) {
  TypedAttr attr = e.b.getFloatAttr(getElementTypeOrSelf(like), value);
  if (auto vector = dyn_cast<VectorType>(like))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(e.b, e.loc, attr);
}

} // namespace detail

namespace {

/// Number of terms that are added sequentially in one block of a long sum.
constexpr int64_t kBlock = 32;

/// Emits a loop that sums `terms(i)` for i in [0, n). Each block of kBlock terms has its own sums,
/// which are then added to the accumulators `longState` by compensated (Kahan) summation. Returns
/// the new accumulators.
SmallVector<Value> sweepLong(Emitter &e, const ReductionState &gathering, int64_t n,
                             ValueRange longState, function_ref<SmallVector<Value>(Value)> terms) {
  auto block = [&](Value from, Value to) {
    return e.range(from, to, 1, gathering.start(),
                   [&](Value i, ValueRange state) { return gathering.step(state, terms(i)); });
  };
  if (n <= 2 * kBlock)
    return gathering.addBlock(longState, block(e.i64(0), e.i64(n)));
  return e.range(e.i64(0), e.i64(n), kBlock, longState, [&](Value from, ValueRange state) {
    Value to = e.binary("min", e.binary("add", from, e.i64(kBlock)), e.i64(n));
    return gathering.addBlock(state, block(from, to));
  });
}

SmallVector<LaneIndex> makeUniformIndices(ArrayRef<Value> values) {
  SmallVector<LaneIndex> result;
  for (Value v : values)
    result.push_back({v, 0, nullptr, false});
  return result;
}

} // namespace

SmallVector<Value> Emitter::fold(ArrayRef<LoopReduction> folds, ArrayRef<int64_t> extents,
                                 int64_t callerLanes, Terms terms, bool careful) {
  if (llvm::is_contained(extents, 0))
    return llvm::map_to_vector(
        folds, [&](const LoopReduction &fold) { return neutral(fold.kind, fold.element, 0); });
  beginWalk();
  int64_t steps = 1;
  for (int64_t extent : extents)
    steps *= extent;
  if (callerLanes > 0 || extents.empty() || extents.back() < 4) {
    ReductionState gathering(*this, folds, callerLanes, /*perLane=*/true);
    if (!careful || !gathering.isLong(steps))
      return loops(extents, gathering.start(), [&](ArrayRef<Value> at, ValueRange state) {
        return gathering.step(state, terms(makeUniformIndices(at), callerLanes));
      });
    return gathering.finishLongSum(loops(
        extents.drop_back(), gathering.startLongSum(), [&](ArrayRef<Value> at, ValueRange state) {
          auto where = makeUniformIndices(at);
          where.emplace_back();
          return sweepLong(*this, gathering, extents.back(), state, [&](Value i) {
            where.back() = {i, 0, nullptr, false};
            return terms(where, callerLanes);
          });
        }));
  }
  // Four registers of accumulators hide the latency of the combining operation.
  int64_t n = extents.back(), width = target.lanes32();
  int64_t lanes = n >= 4 * width ? 4 * width : n >= width ? width : n;
  int64_t blocks = n / lanes, tail = n % lanes, tailLanes = tail > 1 ? tail : 0;
  ReductionState main(*this, folds, lanes, false), rest(*this, folds, tailLanes, false);
  bool isLong = careful && main.isLong(steps / lanes);
  SmallVector<Value> init = isLong ? main.startLongSum() : main.start();
  size_t mainSize = init.size();
  if (tail > 0)
    llvm::append_range(init, isLong ? rest.startLongSum() : rest.start());
  auto result = loops(extents.drop_back(), init, [&](ArrayRef<Value> at, ValueRange state) {
    auto where = makeUniformIndices(at);
    where.emplace_back();
    auto termsAt = [&](Value block) {
      where.back() = {binary("mul", block, i64(lanes)), 1, nullptr, false};
      return terms(where, lanes);
    };
    ValueRange mainState = state.take_front(mainSize), restState = state.drop_front(mainSize);
    SmallVector<Value> next =
        isLong ? sweepLong(*this, main, blocks, mainState, termsAt)
               : loops({blocks}, mainState, [&](ArrayRef<Value> block, ValueRange inner) {
                   return main.step(inner, termsAt(block[0]));
                 });
    if (tail > 0) {
      where.back() = {i64(blocks * lanes), tail > 1 ? 1 : 0, nullptr, false};
      auto last = terms(where, tailLanes);
      llvm::append_range(next, isLong ? rest.addBlock(restState, rest.step(rest.start(), last))
                                      : rest.step(restState, last));
    }
    return next;
  });
  auto part = [&](const ReductionState &gathering, ArrayRef<Value> state) {
    return gathering.finish(isLong ? gathering.finishLongSum(state) : SmallVector<Value>(state));
  };
  auto totals = part(main, ArrayRef<Value>(result).take_front(mainSize));
  if (tail > 0)
    for (auto [fold, total, more] :
         llvm::zip(folds, totals, part(rest, ArrayRef<Value>(result).drop_front(mainSize))))
      total = combine(fold.kind, fold.element, total, more);
  return totals;
}

Value Emitter::fold(ReduceKind kind, Type element, ArrayRef<int64_t> extents, int64_t callerLanes,
                    function_ref<Value(ArrayRef<LaneIndex>, int64_t)> term) {
  return fold(
      {LoopReduction{kind, element}}, extents, callerLanes,
      [&](ArrayRef<LaneIndex> at, int64_t lanes) { return SmallVector<Value>{term(at, lanes)}; },
      false)[0];
}

} // namespace dlc::cpu

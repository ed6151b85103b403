//===- Accumulation.h - state of several reductions in one loop --------------===//
#ifndef DLC_CODEGEN_CPU_EMIT_ACCUMULATION_H
#define DLC_CODEGEN_CPU_EMIT_ACCUMULATION_H

#include "codegen/cpu/emit/Emitter.h"

namespace dlc::cpu {

namespace detail {
mlir::vector::CombiningKind getCombiningKind(ReduceKind kind, mlir::Type element);
mlir::Value emitFloatConstant(Emitter &e, mlir::Type like, double value);
} // namespace detail

/// Maximum number of sequential additions in a floating-point sum without compensation of rounding
/// errors. Sums of more terms are computed in blocks, see ReductionState::addBlock().
inline constexpr int64_t kLongSum = 64;

/// Loop-carried state of several reductions, as a flat list of SSA values. A vector of float maxima
/// or minima is held as the extremum without NaN handling plus a mask of the lanes that have seen a
/// NaN. One comparison updates the mask for two registers. A sum of more than kLongSum terms is
/// held as a sum and its accumulated rounding error.
class ReductionState {
public:
  ReductionState(Emitter &e, llvm::ArrayRef<LoopReduction> folds, int64_t lanes, bool perLane)
      : e(e), folds(folds.begin(), folds.end()), lanes(lanes), perLane(perLane) {}

  llvm::SmallVector<mlir::Value> start() const {
    llvm::SmallVector<mlir::Value> state;
    for (const LoopReduction &fold : folds) {
      state.push_back(e.neutral(fold.kind, fold.element, lanes));
      if (hasMask(fold))
        state.push_back(mlir::arith::ConstantOp::create(
            e.b, e.loc,
            mlir::DenseElementsAttr::get(mlir::VectorType::get({maskLanes()}, e.b.getI1Type()),
                                         false)));
    }
    return state;
  }

  llvm::SmallVector<mlir::Value> step(mlir::ValueRange state,
                                      llvm::ArrayRef<mlir::Value> terms) const {
    llvm::SmallVector<mlir::Value> next;
    size_t at = 0;
    for (auto [fold, term] : llvm::zip(folds, terms)) {
      mlir::Value v = e.splat(term, lanes), gathered = state[at++];
      if (!hasMask(fold)) {
        next.push_back(e.combine(fold.kind, fold.element, gathered, v));
        continue;
      }
      // The comparison and the selection become one instruction (`maxps` or `minps`). Its result is
      // NaN if the term `v` is NaN, but it drops a NaN of the accumulator `gathered`. Therefore a
      // mask records the lanes in which any term was NaN.
      auto better = fold.kind == ReduceKind::max ? mlir::arith::CmpFPredicate::OGT
                                                 : mlir::arith::CmpFPredicate::OLT;
      mlir::Value keep = mlir::arith::CmpFOp::create(e.b, e.loc, better, gathered, v);
      next.push_back(mlir::arith::SelectOp::create(e.b, e.loc, keep, gathered, v));
      next.push_back(mlir::arith::OrIOp::create(e.b, e.loc, state[at++], unordered(v)));
    }
    return next;
  }

  llvm::SmallVector<mlir::Value> startLongSum() const {
    llvm::SmallVector<mlir::Value> state;
    for (auto [fold, values] : split(start())) {
      llvm::append_range(state, values);
      if (isSum(fold))
        state.push_back(values[0]);
    }
    return state;
  }

  /// Adds the accumulators of one block to those of the whole sum. The rounding error of each
  /// addition is compensated in the next addition (Kahan summation).
  llvm::SmallVector<mlir::Value> addBlock(mlir::ValueRange longState,
                                          mlir::ValueRange block) const {
    llvm::SmallVector<mlir::Value> next;
    size_t at = 0;
    for (auto [fold, values] : split(llvm::SmallVector<mlir::Value>(block))) {
      if (isSum(fold)) {
        mlir::Value sum = longState[at++], lost = longState[at++];
        mlir::Value term = mlir::arith::SubFOp::create(e.b, e.loc, values[0], lost);
        mlir::Value total = mlir::arith::AddFOp::create(e.b, e.loc, sum, term);
        mlir::Value grown = mlir::arith::SubFOp::create(e.b, e.loc, total, sum);
        mlir::Value over = mlir::arith::SubFOp::create(e.b, e.loc, grown, term);
        // An infinite sum would give a NaN as rounding error. The error is set to 0 in this case.
        mlir::Value zero = detail::emitFloatConstant(e, over.getType(), 0);
        mlir::Value finite =
            mlir::arith::CmpFOp::create(e.b, e.loc, mlir::arith::CmpFPredicate::OEQ,
                                        mlir::arith::SubFOp::create(e.b, e.loc, over, over), zero);
        next.push_back(total);
        next.push_back(mlir::arith::SelectOp::create(e.b, e.loc, finite, over, zero));
        continue;
      }
      next.push_back(e.combine(fold.kind, fold.element, longState[at++], values[0]));
      if (hasMask(fold))
        next.push_back(mlir::arith::OrIOp::create(e.b, e.loc, longState[at++], values[1]));
    }
    return next;
  }

  llvm::SmallVector<mlir::Value> finishLongSum(mlir::ValueRange longState) const {
    llvm::SmallVector<mlir::Value> state;
    size_t at = 0;
    for (const LoopReduction &fold : folds) {
      state.push_back(longState[at++]);
      if (isSum(fold))
        ++at;
      else if (hasMask(fold))
        state.push_back(longState[at++]);
    }
    return state;
  }

  size_t longStateSize() const {
    size_t size = 0;
    for (const LoopReduction &fold : folds)
      size += 1 + (isSum(fold) || hasMask(fold));
    return size;
  }
  size_t size() const {
    size_t size = 0;
    for (const LoopReduction &fold : folds)
      size += 1 + hasMask(fold);
    return size;
  }

  /// Returns the final value of each reduction. The vector lanes of an accumulator are combined (a
  /// horizontal reduction) unless each lane is a separate result.
  llvm::SmallVector<mlir::Value> finish(llvm::ArrayRef<mlir::Value> state) const {
    llvm::SmallVector<mlir::Value> results;
    for (auto [fold, values] : split(llvm::SmallVector<mlir::Value>(state))) {
      mlir::Value v = values[0];
      if (perLane || !llvm::isa<mlir::VectorType>(v.getType())) {
        results.push_back(v);
        continue;
      }
      auto flags = mlir::arith::FastMathFlags::reassoc;
      if (hasMask(fold))
        flags = flags | mlir::arith::FastMathFlags::nnan | mlir::arith::FastMathFlags::nsz;
      mlir::Value one = mlir::vector::ReductionOp::create(
          e.b, e.loc, detail::getCombiningKind(fold.kind, fold.element), v, flags);
      if (hasMask(fold)) {
        mlir::Value nan = mlir::vector::ReductionOp::create(
            e.b, e.loc, mlir::vector::CombiningKind::OR, values[1]);
        one = mlir::arith::SelectOp::create(e.b, e.loc, nan,
                                            detail::emitFloatConstant(e, one.getType(), NAN), one);
      }
      results.push_back(one);
    }
    return results;
  }

  /// Returns the accumulator vector of each reduction, with NaN in the lanes that have seen a NaN.
  /// The lanes are not combined. Requires one mask bit per lane: masks must not cover two
  /// registers.
  llvm::SmallVector<mlir::Value> finishLanes(llvm::ArrayRef<mlir::Value> state) const {
    llvm::SmallVector<mlir::Value> results;
    for (auto [fold, values] : split(llvm::SmallVector<mlir::Value>(state))) {
      mlir::Value v = values[0];
      if (hasMask(fold)) {
        assert(maskLanes() == lanes && "a mask has a bit for each lane");
        mlir::Value nan = detail::emitFloatConstant(e, v.getType(), NAN);
        v = mlir::arith::SelectOp::create(e.b, e.loc, values[1], nan, v);
      }
      results.push_back(v);
    }
    return results;
  }

  /// Returns whether any reduction is a floating-point sum of more than kLongSum sequential
  /// additions.
  bool isLong(int64_t steps) const {
    return steps > kLongSum &&
           llvm::any_of(folds, [](const LoopReduction &fold) { return isSum(fold); });
  }

private:
  static bool isSum(const LoopReduction &fold) {
    return llvm::isa<mlir::FloatType>(fold.element) &&
           (fold.kind == ReduceKind::sum || fold.kind == ReduceKind::mean);
  }
  bool hasMask(const LoopReduction &fold) const {
    return lanes > 0 && !perLane && llvm::isa<mlir::FloatType>(fold.element) &&
           (fold.kind == ReduceKind::max || fold.kind == ReduceKind::min);
  }
  int64_t maskLanes() const {
    int64_t width = e.target.lanes32();
    return lanes % (2 * width) == 0 ? width : lanes;
  }

  mlir::Value unordered(mlir::Value v) const {
    auto uno = [&](mlir::Value x, mlir::Value y) -> mlir::Value {
      return mlir::arith::CmpFOp::create(e.b, e.loc, mlir::arith::CmpFPredicate::UNO, x, y);
    };
    int64_t width = maskLanes();
    if (width == lanes)
      return uno(v, v);
    mlir::Value mask;
    auto part = [&](int64_t first) -> mlir::Value {
      auto lanesOfPart = llvm::to_vector(llvm::seq<int64_t>(first, first + width));
      return mlir::vector::ShuffleOp::create(e.b, e.loc, v, v, lanesOfPart);
    };
    for (int64_t first = 0; first < lanes; first += 2 * width) {
      mlir::Value two = uno(part(first), part(first + width));
      mask = mask ? mlir::Value(mlir::arith::OrIOp::create(e.b, e.loc, mask, two)) : two;
    }
    return mask;
  }

  /// Splits the flat list of state values into the values of each reduction.
  llvm::SmallVector<std::pair<LoopReduction, llvm::SmallVector<mlir::Value>>>
  split(const llvm::SmallVector<mlir::Value> &state) const {
    llvm::SmallVector<std::pair<LoopReduction, llvm::SmallVector<mlir::Value>>> parts;
    size_t at = 0;
    for (const LoopReduction &fold : folds) {
      size_t n = 1 + hasMask(fold);
      parts.push_back(
          {fold, llvm::SmallVector<mlir::Value>(state.begin() + at, state.begin() + at + n)});
      at += n;
    }
    return parts;
  }

  Emitter &e;
  llvm::SmallVector<LoopReduction> folds;
  int64_t lanes;
  bool perLane;
};

} // namespace dlc::cpu
#endif

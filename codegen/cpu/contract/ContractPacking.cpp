//===- ContractPacking.cpp - packing of the operands of a generated matmul ----===//
#include "codegen/cpu/contract/ContractBuilder.h"
#include "codegen/cpu/kernel/TransposedOperands.h"

using namespace mlir;

namespace dlc::cpu {

/// Number of 8-bit integers per vector load if the elements are contiguous along K.
constexpr int64_t kAlongDepth = 16;

MatrixView ContractBuilder::packA(MatrixView from, Value rows) {
  MatrixView to{operands.scratch, sum, getPackedRowStrideA(spec, bytes(held)), 1};
  if (from.column == 1) {
    int64_t whole = spec.k / plan.lanes * plan.lanes;
    loop(i64(0), rows, 1, [&](Value row) {
      Value source = at(from.base, from.element, mul(row, from.row));
      Value target = at(to.base, sum, mul(row, to.row));
      if (whole)
        loop(i64(0), i64(whole), plan.lanes, [&](Value k) {
          store(loadVector(at(source, from.element, k), from.element, plan.lanes),
                at(target, sum, k));
        });
      // The last partial vector of a row is stored completely: its unused lanes are written to
      // the padding of the row.
      if (whole < spec.k)
        store(loadVector(at(source, from.element, whole), from.element, spec.k - whole),
              at(target, sum, whole));
    });
    return to;
  }
  loop(i64(0), rows, 1, [&](Value row) {
    Value source = at(from.base, from.element, mul(row, from.row));
    Value target = at(to.base, sum, mul(row, to.row));
    loop(i64(0), i64(spec.k), 1, [&](Value k) {
      store(loadScalar(at(source, from.element, mul(k, from.column)), from.element),
            at(target, sum, k));
    });
  });
  return to;
}

MatrixView ContractBuilder::packPanel(MatrixView from, int64_t width, Value to) {
  MatrixView packed{to, sum, plan.panelColumns, 1};
  int64_t lanes = plan.lanes;
  if (from.column == 1) {
    loop(i64(0), i64(spec.k), 1, [&](Value k) {
      Value source = at(from.base, from.element, mul(k, from.row));
      Value target = at(to, sum, mul(k, plan.panelColumns));
      for (int64_t j = 0; j < width; j += lanes)
        store(loadVector(at(source, from.element, j), from.element, width - j), at(target, sum, j));
    });
    return packed;
  }
  if (from.row == 1) {
    auto square = [&](Value k, int64_t rows) {
      for (int64_t j = 0; j < width; j += lanes) {
        SmallVector<Value> block;
        for (int64_t i = 0; i < lanes; ++i)
          block.push_back(j + i < width ? loadVector(at(at(from.base, from.element, k),
                                                        from.element, (j + i) * from.column),
                                                     from.element, rows)
                                        : zeroVector());
        block = transposeRegisters(b, loc, block);
        Value target = at(to, sum, mul(k, plan.panelColumns));
        for (int64_t i = 0; i < rows; ++i)
          store(block[i], at(target, sum, i * plan.panelColumns + j));
      }
    };
    int64_t whole = spec.k / lanes * lanes;
    if (whole)
      loop(i64(0), i64(whole), lanes, [&](Value k) { square(k, lanes); });
    if (whole < spec.k)
      square(i64(whole), spec.k - whole);
    return packed;
  }
  loop(i64(0), i64(spec.k), 1, [&](Value k) {
    Value source = at(from.base, from.element, mul(k, from.row));
    Value target = at(to, sum, mul(k, plan.panelColumns));
    loop(i64(0), i64(width), 1, [&](Value j) {
      store(loadScalar(at(source, from.element, mul(j, from.column)), from.element),
            at(target, sum, j));
    });
    // Columns of the last vector that do not exist are also multiplied, and their results are
    // dropped. They are set to zero so that they contain no signaling NaNs.
    for (int64_t j = width; j % lanes; ++j)
      store(arith::ConstantOp::create(b, loc, b.getFloatAttr(sum, 0)), at(target, sum, j));
  });
  return packed;
}

/// Emits for (k = from; k < K; ++k) store(made(k), address(k)). Stores zeros for the elements
/// between K and the end of the last pair.
void ContractBuilder::fillDepth(Value from, llvm::function_ref<Value(Value)> address,
                                llvm::function_ref<Value(Value)> made) {
  loop(from, i64(spec.k), 1, [&](Value k) { store(made(k), address(k)); });
  for (int64_t k = spec.k; k < plan.steps * plan.groupSize; ++k)
    store(zeroOf(held), address(i64(k)));
}

/// Emits a loop over the pairs along K and calls step(k, isHalf) with the first k of each pair.
/// `isHalf`: the pair has only one element, because K is odd.
void ContractBuilder::eachStep(llvm::function_ref<void(Value, bool)> step) {
  int64_t whole = spec.k / plan.groupSize * plan.groupSize;
  if (whole)
    loop(i64(0), i64(whole), plan.groupSize, [&](Value k) { step(k, false); });
  if (whole < spec.k)
    step(i64(whole), true);
}
/// Interleaves the lanes of the vectors at k and k + 1, so that the two elements of each pair are
/// adjacent. If `isHalf` is set, the second vector is zero.
Value ContractBuilder::paired(llvm::function_ref<Value(Value)> load, Value k, bool isHalf) {
  Value even = load(k), odd = isHalf ? zeroOf(even.getType()) : load(add(k, i64(1)));
  SmallVector<int64_t> turns;
  for (int64_t i = 0; i < plan.lanes; ++i)
    turns.append({i, plan.lanes + i});
  return vector::ShuffleOp::create(b, loc, even, odd, turns);
}
/// Stores each pair of 16-bit elements of a vector to the address place(index of the pair).
void ContractBuilder::storePairs(Value x, llvm::function_ref<Value(int64_t)> place) {
  int64_t count = cast<VectorType>(x.getType()).getNumElements() / plan.groupSize;
  Value pairs = vector::BitCastOp::create(b, loc, vectorOf(sum, count), x);
  for (int64_t i = 0; i < count; ++i)
    store(vector::ExtractOp::create(b, loc, pairs, i), place(i));
}

/// Packs plan.lanes rows of an integer A that is contiguous along M, one pair along K at a time.
void ContractBuilder::packIntegersAcross(MatrixView from, MatrixView to, Value row) {
  Value source = at(from.base, from.element, row), target = at(to.base, held, mul(row, to.row));
  auto column = [&](Value k) {
    return centred(
        loadElements(at(source, from.element, mul(k, from.column)), from.element, plan.lanes),
        spec.elementA, zeroA);
  };
  eachStep([&](Value k, bool isHalf) {
    storePairs(paired(column, k, isHalf),
               [&](int64_t i) { return at(target, held, add(k, i64(i * to.row))); });
  });
}

MatrixView ContractBuilder::packIntegersA(MatrixView from, Value rows) {
  MatrixView to{operands.scratch, held, getPackedRowStrideA(spec, bytes(held)), plan.groupSize};
  Value first = i64(0);
  if (from.row == 1 && from.column != 1) {
    first = sub(rows, rem(rows, plan.lanes));
    loop(i64(0), first, plan.lanes, [&](Value row) { packIntegersAcross(from, to, row); });
  }
  loop(first, rows, 1, [&](Value row) {
    Value source = at(from.base, from.element, mul(row, from.row));
    Value target = at(to.base, held, mul(row, to.row));
    int64_t whole = from.column == 1 ? spec.k / kAlongDepth * kAlongDepth : 0;
    if (whole)
      loop(i64(0), i64(whole), kAlongDepth, [&](Value k) {
        store(centred(loadElements(at(source, from.element, k), from.element, kAlongDepth),
                      spec.elementA, zeroA),
              at(target, held, k));
      });
    fillDepth(
        i64(whole), [&](Value k) { return at(target, held, k); },
        [&](Value k) {
          return centred(
              loadElements(at(source, from.element, mul(k, from.column)), from.element, 1),
              spec.elementA, zeroA);
        });
  });
  return to;
}

MatrixView ContractBuilder::packBytesA(MatrixView from, Value rows) {
  MatrixView to{operands.scratch, held, getPackedRowStrideA(spec, 1), plan.groupSize};
  auto shifted = [&](Value x) {
    if (isUnsigned(spec.elementA))
      return x;
    auto type = cast<VectorType>(x.getType());
    Value sign = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI8IntegerAttr(-128).getValue()));
    return arith::XOrIOp::create(b, loc, x, sign).getResult();
  };
  const int64_t width = 4 * plan.lanes, whole = spec.k / width * width;
  VectorType vector = vectorOf(held, width), wide = vectorOf(sum, width);
  loop(i64(0), rows, 1, [&](Value row) {
    Value source = at(from.base, from.element, mul(row, from.row));
    Value target = at(to.base, held, mul(row, to.row));
    // Accumulator of the sum of the row: one vector if B has a zero point, otherwise none.
    SmallVector<Value> sums;
    if (zeroB)
      sums.push_back(zeroOf(wide));
    auto addTo = [&](ValueRange before, Value x) {
      SmallVector<Value> after;
      for (Value y : before)
        after.push_back(add(y, arith::ExtUIOp::create(b, loc, wide, x)));
      return after;
    };
    if (whole)
      sums = loop(i64(0), i64(whole), width, sums, [&](Value k, ValueRange before) {
        Value x = shifted(loadElements(at(source, from.element, k), from.element, width));
        store(x, at(target, held, k));
        return addTo(before, x);
      });
    if (int64_t rest = spec.k - whole) {
      Value mask = leadingMask(width, rest);
      Value zero = zeroOf(vector);
      Value x = LLVM::MaskedLoadOp::create(b, loc, vector, at(source, from.element, whole), mask,
                                           zero, b.getI32IntegerAttr(1));
      x = arith::SelectOp::create(b, loc, mask, shifted(x), zero);
      store(x, at(target, held, whole));
      sums = addTo(sums, x);
    }
    for (Value x : sums)
      store(vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, x), rowSumAt(row));
  });
  return to;
}
Value ContractBuilder::rowSumAt(Value rowInChunk) {
  return at(at(operands.scratch, b.getI8Type(), plan.scratchRowSums), sum, rowInChunk);
}

MatrixView ContractBuilder::packIntegersPanel(MatrixView from, int64_t width, Value to) {
  const int64_t together = plan.groupSize, lanes = plan.lanes;
  MatrixView packed{to, held, together * plan.panelColumns, 1};
  auto load = [&](Value k, Value j, int64_t count) {
    Value address =
        at(at(from.base, from.element, mul(k, from.row)), from.element, mul(j, from.column));
    return centred(loadElements(address, from.element, count), spec.elementB, zeroB);
  };
  auto place = [&](Value k, Value j) {
    return at(to, held,
              add(add(mul(div(k, together), packed.row), mul(j, together)), rem(k, together)));
  };
  if (from.column == 1 && width % lanes == 0) {
    eachStep([&](Value k, bool isHalf) {
      for (int64_t j = 0; j < width; j += lanes)
        store(paired([&](Value k) { return load(k, i64(j), lanes); }, k, isHalf), place(k, i64(j)));
    });
    return packed;
  }
  loop(i64(0), i64(width), 1, [&](Value j) {
    int64_t whole = from.row == 1 ? spec.k / kAlongDepth * kAlongDepth : 0;
    if (whole)
      loop(i64(0), i64(whole), kAlongDepth, [&](Value k) {
        storePairs(load(k, j, kAlongDepth),
                   [&](int64_t i) { return place(add(k, i64(i * together)), j); });
      });
    fillDepth(
        i64(whole), [&](Value k) { return place(k, j); }, [&](Value k) { return load(k, j, 1); });
  });
  return packed;
}

} // namespace dlc::cpu

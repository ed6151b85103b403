//===- TransposedOperands.cpp - transposed operands, transposed in tiles of registers ---===//
#include "codegen/cpu/kernel/TransposedOperands.h"
#include "codegen/cpu/math/Registers.h"

using namespace mlir;

namespace dlc::cpu {

SmallVector<int64_t> getOperandStrides(TransposeOp transpose) {
  auto strides = ref::rowMajorStrides(tensorType(transpose.getX()).getShape());
  SmallVector<int64_t> result;
  for (int64_t p : transpose.getPermutation())
    result.push_back(strides[p]);
  return result;
}

std::optional<TiledTransposes> findTiledTransposes(FusionOp fusion, ArrayRef<int64_t> shape,
                                                   const Target &target) {
  // Minimum number of contiguous elements of an operand (minAcross) and of results in a row
  // (minResults). With fewer, most of a tile would be unused.
  constexpr int64_t minAcross = 8, minResults = 2;
  if (shape.size() < 2 || shape.back() < minResults)
    return std::nullopt;
  // 8-bit elements are transposed in registers of 128 bits, which all processors have.
  constexpr int64_t bytes = 16;
  TiledTransposes transposed;
  int64_t bits = 32, ofBytes = 0;
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    if (op.hasTrait<ElementLoop>())
      return std::nullopt;
    auto transpose = dyn_cast<TransposeOp>(op);
    if (!transpose)
      continue;
    auto type = tensorType(transpose.getResult());
    SmallVector<int64_t> strides = getOperandStrides(transpose);
    if (type.getShape() != shape || strides.back() <= kNearStep)
      continue;
    int64_t across = -1;
    for (size_t d = 0; d + 1 < shape.size(); ++d)
      if (shape[d] >= minAcross && strides[d] <= kNearStep &&
          (across < 0 || strides[d] < strides[across]))
        across = int64_t(d);
    unsigned width = getComputeType(type.getElementType()).getIntOrFloatBitWidth();
    if (across < 0 || (width != 8 && width != 32 && width != 64) ||
        (!transposed.transposes.empty() && across != transposed.across))
      return std::nullopt;
    bits = std::max<int64_t>(bits, width);
    ofBytes += width == 8;
    transposed.across = across;
    transposed.transposes.push_back(transpose);
  }
  if (transposed.transposes.empty() ||
      (ofBytes > 0 && ofBytes < int64_t(transposed.transposes.size())))
    return std::nullopt;
  transposed.lanes = ofBytes > 0 ? bytes : target.vectorBits / bits;
  return transposed;
}

namespace {

/// Emits a shuffle of two registers: element i of the result is element picks[i] of their
/// concatenation.
Value shuffleRegisters(OpBuilder &b, Location loc, Value x, Value y, ArrayRef<int64_t> picks) {
  return vector::ShuffleOp::create(b, loc, x, y, picks);
}

/// Emits an interleave of runs of `run` elements of x and y within each block of 128 bits, as
/// `unpacklo` and `unpackhi` do.
Value interleave(OpBuilder &b, Location loc, Value x, Value y, int64_t lanes, int64_t block,
                 int64_t run, bool high) {
  SmallVector<int64_t> picks;
  for (int64_t start = 0; start < lanes; start += block)
    for (int64_t at = high ? block / 2 : 0; at < (high ? block : block / 2); at += run)
      for (int64_t from : {int64_t(0), lanes})
        for (int64_t i = 0; i < run; ++i)
          picks.push_back(from + start + at + i);
  return shuffleRegisters(b, loc, x, y, picks);
}

/// Emits a shuffle that returns every second block of x, followed by every second block of y.
Value everySecond(OpBuilder &b, Location loc, Value x, Value y, int64_t lanes, int64_t block,
                  bool odd) {
  SmallVector<int64_t> picks;
  for (int64_t from : {int64_t(0), lanes})
    for (int64_t start = odd ? block : 0; start < lanes; start += 2 * block)
      for (int64_t i = 0; i < block; ++i)
        picks.push_back(from + start + i);
  return shuffleRegisters(b, loc, x, y, picks);
}

} // namespace

SmallVector<Value> transposeRegisters(OpBuilder &b, Location loc, ArrayRef<Value> registers) {
  auto type = cast<VectorType>(registers[0].getType());
  int64_t lanes = type.getNumElements();
  assert(int64_t(registers.size()) == lanes && "a square of registers");
  // First, elements are transposed within blocks of 128 bits, among groups of as many registers as
  // a block has elements.
  int64_t block = 128 / type.getElementType().getIntOrFloatBitWidth();
  SmallVector<Value> now(registers);
  for (int64_t run = 1; run < block; run *= 2) {
    SmallVector<Value> next(now.size());
    for (int64_t group = 0; group < lanes; group += 2 * run)
      for (int64_t i = 0; i < run; ++i) {
        Value x = now[group + i], y = now[group + i + run];
        next[group + 2 * i] = interleave(b, loc, x, y, lanes, block, run, false);
        next[group + 2 * i + 1] = interleave(b, loc, x, y, lanes, block, run, true);
      }
    now = std::move(next);
  }
  // Block c of register q in each group now has column c * block + q of the group's rows. The
  // blocks of equal q in all groups are then transposed as a square of blocks: each step separates
  // the even and the odd blocks of two groups.
  int64_t groups = lanes / block;
  if (groups > 1)
    for (Value &one : now)
      one = hideFromOptimizer(b, loc, one);
  SmallVector<Value> result(lanes);
  for (int64_t q = 0; q < block; ++q) {
    // Groups of registers, each with the index of its first column.
    SmallVector<std::pair<SmallVector<Value>, int64_t>> parts;
    SmallVector<Value> all;
    for (int64_t g = 0; g < groups; ++g)
      all.push_back(now[g * block + q]);
    parts.push_back({all, 0});
    for (int64_t columns = groups; columns > 1; columns /= 2) {
      SmallVector<std::pair<SmallVector<Value>, int64_t>> halves;
      for (auto &[some, first] : parts)
        for (bool odd : {false, true}) {
          SmallVector<Value> half;
          for (size_t i = 0; i < some.size(); i += 2)
            half.push_back(everySecond(b, loc, some[i], some[i + 1], lanes, block, odd));
          halves.push_back({half, first + (odd ? groups / columns : 0)});
        }
      parts = std::move(halves);
    }
    for (auto &[some, column] : parts)
      result[column * block + q] = some[0];
  }
  return result;
}

} // namespace dlc::cpu

//===- SubPixels.h - transposed convolutions as convolutions --------------===//
//
// With strides s, the positions of a transposed convolution's result form prod(s) phases: all
// positions with the same remainder modulo s. Each phase is a convolution of the operand with every
// s-th element of the window. One convolution with prod(s) times as many output channels computes
// all phases, and its result is interleaved.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_SUBPIXELS_H
#define DLC_PASSES_SUBPIXELS_H

#include "passes/TensorBuilder.h"

#include <numeric>

namespace dlc {

/// Phases along one spatial dimension of a transposed convolution: `stride` phases, each computed
/// by a convolution with a window of `taps` elements and the padding `low` and `high`. `positions`
/// is the size of the result of one phase.
struct SubPixelPhase {
  int64_t stride, taps, positions, low, high;
};

inline std::optional<llvm::SmallVector<SubPixelPhase>> computeSubPixelPhases(ConvTransposeOp op) {
  llvm::SmallVector<SubPixelPhase> phases;
  llvm::ArrayRef<int64_t> x = shapeOf(op.getX()), w = shapeOf(op.getW()), y = shapeOf(op.getY());
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    int64_t stride = op.getStrides()[d];
    if (op.getDilations()[d] != 1 || op.getLow()[d] < 0)
      return std::nullopt;
    int64_t taps = llvm::divideCeil(w[d + 2], stride);
    int64_t positions = llvm::divideCeil(y[d + 2] + op.getLow()[d], stride);
    phases.push_back({stride, taps, positions, taps - 1, positions - x[d + 2]});
    if (phases.back().high < 0)
      return std::nullopt;
  }
  return phases;
}

/// Builds the convolution that computes all phases of a transposed convolution, and its operands.
/// `Builder` is TensorBuilder or a class with the same member functions.
template <typename Builder> class SubPixels {
  using Value = mlir::Value;
  using Shape = llvm::SmallVector<int64_t>;

public:
  SubPixels(ConvTransposeOp op, llvm::ArrayRef<SubPixelPhase> phases, Builder &b)
      : op(op), phases(phases), b(b), groups(op.getGroups()), outputs(shapeOf(op.getW())[1]) {}

  /// Builds the convolution that computes all phases. `w` are weights rearranged by weights().
  /// `bias` has one element per output channel of this convolution, or is null.
  Value convolution(Value x, Value w, Value bias) {
    Shape ones(phases.size(), 1), low, high;
    append(low, &SubPixelPhase::low);
    append(high, &SubPixelPhase::high);
    return b.template make<ConvOp>(x, w, bias, ones, ones, low, high, groups);
  }

  /// Interleaves the results of the phases (depth-to-space), [N, (groups, strides.., O),
  /// positions..] -> [N, (groups, O), (positions, strides)..], and crops them to the shape of the
  /// transposed convolution's result.
  Value interleaved(Value phased) {
    // Minimum number of channels for interleaving in channels-last order: the channels of one
    // position then fill a vector and are moved as a whole.
    constexpr int64_t kRow = 16;
    return outputs >= kRow ? inRows(phased) : inPlanes(phased);
  }

  /// Rearranges the weights of the transposed convolution to those of the convolution that computes
  /// all phases: [(groups, C), O, (taps, strides)..] -> [(groups, strides.., O), C, taps..], with
  /// the window elements (taps) in reverse order.
  Value weights(Value w) {
    llvm::ArrayRef<int64_t> shape = shapeOf(w);
    Shape low(shape.size(), 0), high(shape.size(), 0);
    Shape split{groups, shape[0] / groups, outputs}, start(3, 0), step(3, 1), order{0}, taps;
    for (auto [d, phase] : llvm::enumerate(phases)) {
      high[d + 2] = phase.taps * phase.stride - shape[d + 2];
      split.append({phase.taps, phase.stride});
      start.append({phase.taps - 1, 0});
      step.append({-1, 1});
      order.push_back(4 + 2 * int64_t(d));
      taps.push_back(3 + 2 * int64_t(d));
    }
    order.append({2, 1});
    order.append(taps);
    Shape joined{groups * strides() * outputs, shape[0] / groups};
    append(joined, &SubPixelPhase::taps);
    if (llvm::any_of(high, [](int64_t n) { return n > 0; }))
      w = b.template make<PadOp>(w, b.scalar(0, w), PadMode::constant, low, high);
    w = b.template make<SliceOp>(b.reshape(w, split), start, split, step);
    return b.reshape(b.template make<TransposeOp>(w, order), joined);
  }

  /// Repeats a vector that has one element per output channel of the transposed convolution for
  /// each phase. The result has one element per output channel of the convolution that computes all
  /// phases.
  Value repeated(Value each) {
    Value rows = b.broadcast(b.reshape(each, {groups, 1, outputs}), {groups, strides(), outputs});
    return b.reshape(rows, {groups * strides() * outputs});
  }

private:
  /// Interleaves the results of the phases in channels-last order. The transpositions to and from
  /// this order may then become views, which move no data.
  Value inRows(Value phased) {
    const int64_t rank = int64_t(phases.size());
    Shape last{0}, first{0, rank + 1}, split{shapeOf(phased)[0]}, order{0};
    append(split, &SubPixelPhase::positions);
    split.push_back(groups);
    append(split, &SubPixelPhase::stride);
    split.push_back(outputs);
    for (int64_t d = 0; d < rank; ++d) {
      last.push_back(2 + d);
      first.push_back(1 + d);
      order.append({1 + d, rank + 2 + d});
    }
    last.push_back(1);
    order.append({rank + 1, 2 * rank + 2});
    Value whole = b.reshape(b.template make<TransposeOp>(phased, last), split);
    whole = inside(b.template make<TransposeOp>(whole, order), 1);
    return b.template make<TransposeOp>(whole, first);
  }

  Value inPlanes(Value phased) {
    const int64_t rank = int64_t(phases.size());
    Shape split{shapeOf(phased)[0], groups}, order{0, 1, rank + 2};
    append(split, &SubPixelPhase::stride);
    split.push_back(outputs);
    append(split, &SubPixelPhase::positions);
    for (int64_t d = 0; d < rank; ++d)
      order.append({rank + 3 + d, 2 + d});
    return inside(b.template make<TransposeOp>(b.reshape(phased, split), order), 2);
  }

  /// Merges the interleaved phases with the spatial dimensions, which start at dimension `at`, and
  /// crops the result to the shape of the transposed convolution's result.
  Value inside(Value interleaved, int64_t at) {
    Shape joined(phases.size() + 2, groups * outputs), start(joined.size(), 0), size;
    joined[0] = shapeOf(interleaved)[0];
    size = joined;
    for (auto [d, phase] : llvm::enumerate(phases)) {
      joined[at + d] = phase.positions * phase.stride;
      start[at + d] = op.getLow()[d];
      size[at + d] = shapeOf(op.getY())[d + 2];
    }
    Value whole = b.reshape(interleaved, joined);
    return size == joined ? whole
                          : b.template make<SliceOp>(whole, start, size, Shape(size.size(), 1));
  }

  void append(Shape &shape, int64_t SubPixelPhase::*what) const {
    for (const SubPixelPhase &phase : phases)
      shape.push_back(phase.*what);
  }

  int64_t strides() const {
    return std::accumulate(phases.begin(), phases.end(), int64_t(1),
                           [](int64_t n, const SubPixelPhase &phase) { return n * phase.stride; });
  }

  ConvTransposeOp op;
  llvm::ArrayRef<SubPixelPhase> phases;
  Builder &b;
  int64_t groups, outputs;
};

} // namespace dlc

#endif // DLC_PASSES_SUBPIXELS_H

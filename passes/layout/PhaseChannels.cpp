//===- PhaseChannels.cpp - space-to-depth for strided convolutions of few channels ----===//
//
// For GPUs. The first convolution of a network has strides and three input channels, but tensor
// cores process eight channels at a time (four of tf32). The phases of the image with respect to
// the strides become channels, so that a smaller window moves with stride 1. The weights, or their
// gradient, are rearranged accordingly. Far fewer multiplications by zero remain than if only the
// channels were padded.
//
//===---------------------------------------------------------------------------------===//
#include "ir/dlc/Attributes.h"
#include "passes/layout/Alternatives.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc {

namespace {

using Shape = SmallVector<int64_t>;

class SpaceToDepth {
public:
  /// Prepares the rewrite of a strided convolution with images x, [N, C, ..], to a convolution with
  /// stride 1 whose channels are the phases of the image (space-to-depth). `results` are the
  /// spatial sizes of the convolution's result.
  SpaceToDepth(AlternativeBuilder &b, Value x, ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
               ArrayRef<int64_t> low, ArrayRef<int64_t> results)
      : b(b), x(x), sizes(window), strides(strides), low(low) {
    // Number of channels that tensor cores process together, to which the channels are padded.
    const int64_t together = typeOf(x).getElementType().isF32() ? 4 : 8;
    channels = shapeOf(x)[1];
    for (auto [size, stride] : llvm::zip(window, strides)) {
      windows.push_back(int64_t(llvm::divideCeil(size, stride)));
      phases *= stride;
    }
    for (auto [places, size] : llvm::zip(results, windows))
      images.push_back(places - 1 + size);
    filled = int64_t(llvm::alignTo(channels * phases, together));
  }

  bool isOne() const { return phases == 1; }
  ArrayRef<int64_t> window() const { return windows; }

  Value image() {
    Shape before{0, 0}, after{0, 0};
    for (size_t d = 0; d < strides.size(); ++d) {
      before.push_back(low[d]);
      after.push_back(images[d] * strides[d] - shapeOf(x)[d + 2] - low[d]);
    }
    return fill(apart(padded(x, before, after), images));
  }

  Value weights(Value w) {
    Shape none(sizes.size() + 2, 0), after(none);
    for (size_t d = 0; d < strides.size(); ++d)
      after[d + 2] = windows[d] * strides[d] - sizes[d];
    return fill(apart(padded(w, none, after), windows));
  }

  /// Converts the gradient of the rearranged weights to the gradient of the original weights.
  Value gradient(Value dw) {
    size_t spatial = strides.size();
    Shape zeros(spatial + 2, 0), ones(spatial + 2, 1), size(shapeOf(dw));
    size[1] = channels * phases;
    Value taken = b.make<SliceOp>(dw, zeros, size, ones);
    Shape split{size[0]}, order{0, int64_t(spatial) + 1}, whole{size[0], channels};
    llvm::append_range(split, strides);
    split.push_back(channels);
    for (size_t d = 0; d < spatial; ++d) {
      split.push_back(windows[d]);
      order.push_back(int64_t(spatial + 2 + d));
      order.push_back(int64_t(1 + d));
      whole.push_back(windows[d] * strides[d]);
    }
    Value merged = b.reshape(b.make<TransposeOp>(b.reshape(taken, split), order), whole);
    Shape last{size[0], channels};
    llvm::append_range(last, sizes);
    return ArrayRef<int64_t>(last) == shapeOf(merged) ? merged
                                                      : b.make<SliceOp>(merged, zeros, last, ones);
  }

private:
  Value padded(Value value, ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
    auto isZero = [](int64_t n) { return n == 0; };
    if (llvm::all_of(before, isZero) && llvm::all_of(after, isZero))
      return value;
    return deduplicateOp(b.make<PadOp>(value, b.zero(value), PadMode::constant, before, after));
  }

  /// Moves the phases of each spatial dimension (its indices modulo the stride) to the channels
  /// (space-to-depth): [N, C, (parts, strides)..] -> [N, (strides.., C), parts..]. `parts` are the
  /// spatial sizes of the result.
  Value apart(Value value, ArrayRef<int64_t> parts) {
    ArrayRef<int64_t> shape = shapeOf(value);
    Shape split{shape[0], channels}, order{0}, whole{shape[0], channels * phases};
    for (size_t d = 0; d < parts.size(); ++d) {
      split.append({parts[d], strides[d]});
      order.push_back(int64_t(3 + 2 * d));
    }
    order.push_back(1);
    for (size_t d = 0; d < parts.size(); ++d)
      order.push_back(int64_t(2 + 2 * d));
    llvm::append_range(whole, parts);
    Value transposed =
        deduplicateOp(b.make<TransposeOp>(deduplicateOp(b.reshape(value, split)), order));
    return deduplicateOp(b.reshape(transposed, whole));
  }

  /// Pads the channels with zeros to the number `filled`, a multiple of the channels that tensor
  /// cores process together.
  Value fill(Value value) {
    Shape none(strides.size() + 2, 0), after(none);
    after[1] = filled - channels * phases;
    return padded(value, none, after);
  }

  AlternativeBuilder &b;
  Value x;
  Shape sizes, strides, low, windows, images;
  int64_t channels = 0, phases = 1, filled = 0;
};

/// Returns whether the convolution runs on tensor cores and has few input channels, no groups and
/// no dilation.
template <typename Conv> bool hasFewInputChannels(Conv op) {
  Type element = typeOf(op.getX()).getElementType();
  bool isForTensorCores = element.isF16() || element.isBF16() ||
                          (element.isF32() && op->template getAttrOfType<StringAttr>(kMathAttr));
  return isForTensorCores && op.getGroups() == 1 && shapeOf(op.getX())[1] <= 4 &&
         llvm::all_of(op.getDilations(), [](int64_t gap) { return gap == 1; });
}

} // namespace

std::optional<Alternative> convToSpaceToDepth(Operation *op, AlternativeBuilder &b) {
  auto conv = dyn_cast<ConvOp>(op);
  auto gradient = dyn_cast<ConvWeightGradOp>(op);
  if (conv ? !hasFewInputChannels(conv) : !gradient || !hasFewInputChannels(gradient))
    return std::nullopt;
  Shape ones(shapeOf(op->getOperand(0)).size() - 2, 1), none(ones.size(), 0);
  auto phasesOf = [&](auto of, Value image, ArrayRef<int64_t> window) {
    return SpaceToDepth(b, of.getX(), window, of.getStrides(), of.getLow(),
                        shapeOf(image).drop_front(2));
  };
  SpaceToDepth phases = conv ? phasesOf(conv, conv.getY(), shapeOf(conv.getW()).drop_front(2))
                             : phasesOf(gradient, gradient.getDy(), gradient.getWindow());
  if (phases.isOne())
    return std::nullopt;
  Value image = phases.image();
  if (conv) {
    Value y = b.make<ConvOp>(image, phases.weights(conv.getW()), conv.getBias(), ones, ones, none,
                             none, 1);
    return Alternative{{y}, {y.getDefiningOp()}, {image}};
  }
  Value dw =
      b.make<ConvWeightGradOp>(image, gradient.getDy(), phases.window(), ones, ones, none, none, 1);
  return Alternative{{phases.gradient(dw)}, {dw.getDefiningOp()}, {}};
}

} // namespace dlc

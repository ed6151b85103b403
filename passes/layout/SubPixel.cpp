//===- SubPixel.cpp - transposed convolutions as convolutions -------------===//
#include "passes/SubPixels.h"
#include "passes/layout/Alternatives.h"

using namespace mlir;

namespace dlc {

std::optional<Alternative> convTransposeToSubPixelConv(ConvTransposeOp op, AlternativeBuilder &b) {
  // Floating-point transposed convolutions with stride 1 are not rewritten, because libraries have
  // fast kernels for them.
  if (isa<FloatType>(typeOf(op.getY()).getElementType()) &&
      llvm::all_of(op.getStrides(), [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  std::optional<SmallVector<SubPixelPhase>> phases = computeSubPixelPhases(op);
  if (!phases)
    return std::nullopt;
  SubPixels made(op, *phases, b);
  Value w = made.weights(op.getW()), bias = op.getBias() ? made.repeated(op.getBias()) : Value();
  Value phased = made.convolution(op.getX(), w, bias);
  // The cost includes moving the result twice: interleaving moves it once, and images in
  // channels-first order are moved once more.
  Alternative alternative{{}, {}, {phased, phased}};
  // The phases of a depthwise transposed convolution form a depthwise convolution with a channel
  // multiplier, for which libraries have no fast kernels. Its input channels are therefore repeated
  // instead.
  if (auto repeated = repeatDepthwiseChannels(phased.getDefiningOp<ConvOp>(), b)) {
    phased = repeated->results[0];
    alternative.moved = {repeated->moved[0], phased};
  }
  alternative.work = {phased.getDefiningOp()};
  alternative.results = {made.interleaved(phased)};
  return alternative;
}

} // namespace dlc

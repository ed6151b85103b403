//===- Blocked.cpp - channel-blocked operators of ONNX Runtime ------------===//
// The domain com.microsoft.nchwc, which ONNX Runtime's optimizer writes. ONNX Runtime stores the
// tensors between its operators in channel blocks (NCHWc). dlc imports them as [N, C, H, W] with
// the channel count padded to whole blocks, so only the weights are reordered.
#include "frontend/onnx/Families.h"
#include "frontend/onnx/contrib/Activation.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Returns the block size of the channels. The file does not record the block size. It depends on
/// the processor for which the file was optimized, which is assumed to be this machine's.
int64_t getChannelBlockSize() {
  static const int64_t block = [] {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    return features.lookup("avx") && !features.lookup("avx512f") ? 8 : 16;
  }();
  return block;
}

int64_t wholeBlocks(int64_t channels) { return llvm::alignTo(channels, getChannelBlockSize()); }

bool checkImage(Build &b, Value x) {
  return b.require(b.rank(x) == 4, "required x of rank 4, found rank " + Twine(b.rank(x)));
}

void reorderInput(Node &n, Build &b) {
  Value x = n.in(0);
  if (!checkImage(b, x))
    return;
  if (n.integer("channels_last", 0))
    x = moveChannelsFirst(b, x);
  int64_t more = wholeBlocks(b.dim(x, 1)) - b.dim(x, 1);
  n.set(0, more ? b.padZero(x, {0, 0, 0, 0}, {0, more, 0, 0}) : x);
}

void reorderOutput(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t channels = n.integer("channels", 0);
  if (!checkImage(b, x) || !b.require(channels >= 1 && channels <= b.dim(x, 1),
                                      "attribute 'channels' must be from 1 to " +
                                          Twine(b.dim(x, 1)) + ", and is " + Twine(channels)))
    return;
  x = b.sliceAxis(x, 1, 0, channels);
  n.set(0, n.integer("channels_last", 0) ? moveChannelsLast(b, x) : x);
}

/// Reorders blocked weights [O / block, I / block, H, W, block of I, block of O] to [O, I, H, W].
/// Input channels are blocked only if a group has at least one block of them.
Value unblockWeights(Build &b, Value w) {
  int64_t block = getChannelBlockSize(), out = b.dim(w, 0), in = b.dim(w, 1), height = b.dim(w, 2),
          width = b.dim(w, 3), inner = in < block ? 1 : block;
  if (!b.require(
          out % block == 0 && in % inner == 0,
          "W [" + Twine(out) + ", " + Twine(in) + ", ..] must have whole blocks of " +
              Twine(block) +
              " channels; found another block size: the file was optimised for another processor"))
    return {};
  Value blocks = b.reshape(w, {out / block, in / inner, height, width, inner, block});
  return b.reshape(b.transpose(blocks, {0, 5, 1, 4, 2, 3}), {out, in, height, width});
}

/// Conv in channel blocks: activation(conv(X, W) + B + Sum), where Sum is an optional addend.
void blockedConv(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1);
  if (!checkImage(b, x) || !b.require(b.rank(w) == 4, "W must have rank 4"))
    return;
  n.set(0, buildFusedConv(n, b, x, unblockWeights(b, w)));
}

const Operator table[] = {
    {"ReorderInput", 1, reorderInput, "channels_last", blocked},
    {"ReorderOutput", 1, reorderOutput, "channels channels_last", blocked},
    {"Conv", 2, blockedConv,
     "activation activation_params auto_pad dilations group kernel_shape pads strides", blocked},
};

} // namespace

ArrayRef<Operator> blockedOperators() { return table; }

} // namespace dlc::onnxfront

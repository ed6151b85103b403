//===- Blocked.cpp - channel-blocked operators of ONNX Runtime ------------===//
// The domain com.microsoft.nchwc, which ONNX Runtime's optimizer writes. ONNX Runtime stores the
// tensors between its operators in channel blocks (NCHWc). dlc imports them as [N, C, H, W] with
// the channel count padded to whole blocks, so only the weights are reordered.
#include "frontend/onnx/Families.h"
#include "frontend/onnx/Importer.h"
#include "frontend/onnx/contrib/Activation.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Returns whether weights of `out` output channels and `in` input channels of a group consist of
/// whole blocks of channels. Fewer input channels than one block are not blocked.
bool isDivisible(int64_t out, int64_t in, int64_t block) {
  return out % block == 0 && (in < block || in % block == 0);
}

/// Removes from `sizes` the block sizes that do not divide the channels of a convolution in the
/// graph or its subgraphs.
void removeMisfits(const onnx::GraphProto &graph, SmallVector<int64_t> &sizes) {
  std::map<StringRef, const onnx::TensorProto *> weights;
  for (const auto &tensor : graph.initializer())
    weights[tensor.name()] = &tensor;
  for (const auto &node : graph.node()) {
    for (const auto &attribute : node.attribute())
      removeMisfits(attribute.g(), sizes);
    if (node.domain() != blocked || node.op_type() != "Conv" || node.input_size() < 2)
      continue;
    auto found = weights.find(node.input(1));
    if (found != weights.end() && found->second->dims_size() >= 2)
      llvm::erase_if(sizes, [&](int64_t block) {
        return !isDivisible(found->second->dims(0), found->second->dims(1), block);
      });
  }
}

/// Returns the number of channels in a block. It is 8 or 16, depending on the processor for which
/// the file was optimized, which the file does not record.
int64_t getChannelBlockSize(Node &n, Build &b) {
  int64_t &block = n.importer.nchwcBlock;
  if (block != 0)
    return block;
  SmallVector<int64_t> sizes = {8, 16};
  removeMisfits(n.importer.file().model().graph(), sizes);
  b.require(sizes.size() < 2,
            "the weights of the NCHWc convolutions can have blocks of 8 or of 16 channels, with "
            "different results; required: the block size of the processor for which ONNX Runtime "
            "optimized the file, which the file does not record; specify --nchwc-block 16 for a "
            "processor with AVX-512, otherwise --nchwc-block 8 (Python: nchwc_block=16)");
  // Without a suitable size, the first convolution whose weights have no whole blocks is an error.
  return block = sizes.empty() ? 8 : sizes.front();
}

bool checkImage(Build &b, Value x) {
  return b.require(b.rank(x) == 4, "required x of rank 4, found rank " + Twine(b.rank(x)));
}

void reorderInput(Node &n, Build &b) {
  Value x = n.in(0);
  if (!checkImage(b, x))
    return;
  if (n.integer("channels_last", 0))
    x = moveChannelsFirst(b, x);
  int64_t channels = b.dim(x, 1);
  int64_t more = llvm::alignTo(channels, getChannelBlockSize(n, b)) - channels;
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
Value unblockWeights(Build &b, Value w, int64_t block) {
  int64_t out = b.dim(w, 0), in = b.dim(w, 1), height = b.dim(w, 2), width = b.dim(w, 3),
          inner = in < block ? 1 : block;
  if (!b.require(
          isDivisible(out, in, block),
          "W [" + Twine(out) + ", " + Twine(in) + ", ..] must have whole blocks of " +
              Twine(block) +
              " channels; found another block size; specify --nchwc-block 8 or 16, the block size "
              "of the processor for which ONNX Runtime optimized the file"))
    return {};
  Value blocks = b.reshape(w, {out / block, in / inner, height, width, inner, block});
  return b.reshape(b.transpose(blocks, {0, 5, 1, 4, 2, 3}), {out, in, height, width});
}

/// Conv in channel blocks: activation(conv(X, W) + B + Sum), where Sum is an optional addend.
void blockedConv(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1);
  if (!checkImage(b, x) || !b.require(b.rank(w) == 4, "W must have rank 4"))
    return;
  n.set(0, buildFusedConv(n, b, x, unblockWeights(b, w, getChannelBlockSize(n, b))));
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

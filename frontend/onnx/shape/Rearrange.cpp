//===- Rearrange.cpp - depth-to-space, reversed sequences, col2im ---------===//
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void depthToSpace(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t block = n.integer("blocksize", 0);
  std::string mode = n.string("mode", "DCR");
  if (!b.require(b.rank(x) == 4, "required rank 4, found " + Twine(b.rank(x))) ||
      !b.require(block > 0 && block < (1 << 20) && b.dim(x, 1) % (block * block) == 0,
                 "the channels must divide by blocksize squared"))
    return;
  int64_t N = b.dim(x, 0), C = b.dim(x, 1) / (block * block), H = b.dim(x, 2), W = b.dim(x, 3);
  if (mode == "DCR")
    x = b.transpose(b.reshape(x, {N, block, block, C, H, W}), {0, 3, 4, 1, 5, 2});
  else if (mode == "CRD")
    x = b.transpose(b.reshape(x, {N, C, block, block, H, W}), {0, 1, 4, 2, 5, 3});
  else
    return n.unsupported("mode", mode, "DCR, CRD");
  n.set(0, b.reshape(x, {N, C, H * block, W * block}));
}

void spaceToDepth(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t block = n.integer("blocksize", 0);
  std::string mode = n.string("mode", "DCR");
  if (!b.require(b.rank(x) == 4, "required rank 4, found " + Twine(b.rank(x))) ||
      !b.require(block > 0 && block < (1 << 20) && b.dim(x, 2) % block == 0 &&
                     b.dim(x, 3) % block == 0,
                 "height and width must divide by blocksize"))
    return;
  int64_t N = b.dim(x, 0), C = b.dim(x, 1), H = b.dim(x, 2) / block, W = b.dim(x, 3) / block;
  x = b.reshape(x, {N, C, H, block, W, block});
  if (mode == "DCR")
    x = b.transpose(x, {0, 3, 5, 1, 2, 4});
  else if (mode == "CRD")
    x = b.transpose(x, {0, 1, 3, 5, 2, 4});
  else
    return n.unsupported("mode", mode, "DCR, CRD");
  n.set(0, b.reshape(x, {N, C * block * block, H, W}));
}

/// ReverseSequence: in a sequence of length L, reverses the elements t < L (index t becomes L - 1 -
/// t). The remaining elements are unchanged.
void reverseSequence(Node &n, Build &b) {
  Value x = n.in(0), lengths = b.cast(n.in(1), b.i64);
  int64_t rank = b.rank(x);
  int64_t batch = b.axis(n.integer("batch_axis", 1), rank, "batch_axis");
  int64_t time = b.axis(n.integer("time_axis", 0), rank, "time_axis");
  if (!b.ok() || !b.require(batch != time, "batch_axis and time_axis must differ"))
    return;
  if (auto known = b.known(lengths))
    for (int64_t i = 0; i < known->size(); ++i)
      if (!b.require(known->getInt(i) >= 0 && known->getInt(i) <= b.shape(x)[time],
                     "a sequence length is out of range; required: 0 to " +
                         Twine(b.shape(x)[time]) + "; found: " + Twine(known->getInt(i)) +
                         "; correct the lengths"))
        return;
  Dims perBatch(rank, 1);
  perBatch[batch] = b.shape(x)[batch];
  Value length = b.reshape(lengths, perBatch), t = b.iota(b.i64, b.shape(x), time);
  Value mirrored = b.sub(b.sub(length, 1.0), t);
  Value index = b.select(b.compare(Predicate::lt, t, length), mirrored, t);
  n.set(0, b.op<GatherElementsOp>({x, index}, {b.attr("axis", time)}));
}

/// Col2Im: adds the columns [N, C * window, L] to an image. For each window element, they are
/// dilated by the stride, padded to the image and added.
void col2Im(Node &n, Build &b) {
  Value x = n.in(0);
  Dims image = b.needInts(n.in(1), "the image's shape"),
       window = b.needInts(n.in(2), "the block's shape");
  int64_t spatial = int64_t(image.size());
  Dims dilations = n.integers("dilations", spatial, 1), strides = n.integers("strides", spatial, 1);
  Dims pads = n.integers("pads", 2 * spatial, 0);
  if (!b.ok() || !b.require(b.rank(x) == 3 && window.size() == image.size() && spatial > 0,
                            "required columns of rank 3, and a block of the image's rank"))
    return;
  int64_t taps = 1, steps = 1;
  Dims out(spatial), padded(spatial);
  for (int64_t i = 0; i < spatial; ++i) {
    if (!b.require(Build::isSane(strides[i], 1) && Build::isSane(dilations[i], 1) &&
                       window[i] > 0 && window[i] <= 65536 && taps <= 65536 &&
                       Build::isSane(image[i], 1) && Build::isSane(pads[i], 0) &&
                       Build::isSane(pads[spatial + i], 0),
                   "strides, dilations, block and image must be positive, pads not negative"))
      return;
    padded[i] = image[i] + pads[i] + pads[spatial + i];
    out[i] = (padded[i] - dilations[i] * (window[i] - 1) - 1) / strides[i] + 1;
    taps *= window[i];
    steps *= out[i];
  }
  if (!b.require(
          taps <= 65536 && b.dim(x, 1) % taps == 0 && b.dim(x, 2) == steps,
          "the dimensions of the columns do not match the shapes of the block and the image"))
    return;
  int64_t N = b.dim(x, 0), C = b.dim(x, 1) / taps;
  Dims split{N, C, taps};
  split.insert(split.end(), out.begin(), out.end());
  x = b.reshape(x, split);
  Value sum;
  Dims tap(spatial, 0);
  for (int64_t i = 0; i < taps && b.ok(); ++i) {
    Value part = b.at(x, 2, i);
    // Padding that moves the values of this window element (tap) to their positions in the image.
    // It is negative where the values are in the border that the attribute `pads` removes.
    Dims low(2 + spatial, 0), high(2 + spatial, 0);
    for (int64_t d = 0; d < spatial; ++d) {
      int64_t axis = 2 + d;
      // A stride of s is applied by inserting s - 1 zeros between adjacent elements.
      if (strides[d] > 1 && out[d] > 1) {
        Dims shape = b.dims(part);
        Value open = b.expandDims(part, axis + 1);
        Dims openLow(3 + spatial, 0), openHigh(3 + spatial, 0);
        openHigh[axis + 1] = strides[d] - 1;
        open = b.padZero(open, openLow, openHigh);
        shape[axis] *= strides[d];
        part = b.reshape(open, shape);
        part = b.sliceAxis(part, axis, 0, (out[d] - 1) * strides[d] + 1);
      }
      low[axis] = tap[d] * dilations[d] - pads[d];
      high[axis] = image[d] - low[axis] - b.dim(part, axis);
    }
    part = b.padZero(part, low, high);
    sum = sum ? b.add(sum, part) : part;
    for (int64_t d = spatial - 1; d >= 0 && ++tap[d] == window[d]; --d)
      tap[d] = 0;
  }
  n.set(0, sum);
}

const Operator table[] = {
    {"DepthToSpace", depthToSpace},
    {"SpaceToDepth", spaceToDepth},
    {"ReverseSequence", reverseSequence},
    {"Col2Im", col2Im},
};

} // namespace

ArrayRef<Operator> rearrangeOperators() { return table; }

} // namespace dlc::onnxfront

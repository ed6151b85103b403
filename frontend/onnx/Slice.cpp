//===- Slice.cpp - parts of tensors, and tensors out of parts -------------===//
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void slice(Node &n, Build &b) {
  Value x = n.in(0);
  bool byInput = n.opset >= 10;
  Dims starts = byInput ? b.needInts(n.in(1), "the starts") : n.integers("starts");
  Dims ends = byInput ? b.needInts(n.in(2), "the ends") : n.integers("ends");
  Dims all;
  for (size_t i = 0; i < starts.size(); ++i)
    all.push_back(int64_t(i));
  Dims axes =
      byInput ? (n.has(3) ? b.needInts(n.in(3), "the axes") : all) : n.integers("axes", all);
  Dims steps = byInput && n.has(4) ? b.needInts(n.in(4), "the steps") : Dims(starts.size(), 1);
  int64_t rank = b.rank(x);
  if (!b.ok() || !b.require(starts.size() == ends.size() && starts.size() == axes.size() &&
                                starts.size() == steps.size(),
                            "starts, ends, axes and steps must have one length"))
    return;
  Dims start(rank, 0), size = b.dims(x), stride(rank, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = b.axis(axes[i], rank);
    if (!b.ok() || !b.require(steps[i] != 0 && steps[i] != INT64_MIN, "a step must not be 0"))
      return;
    int64_t extent = b.shape(x)[axis], step = steps[i];
    auto place = [&](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    // Walking down, the end may stand before the first element.
    int64_t from = step > 0 ? place(starts[i], 0, extent)
                            : place(starts[i], 0, std::max<int64_t>(extent - 1, 0));
    int64_t to = step > 0 ? place(ends[i], 0, extent) : place(ends[i], -1, extent - 1);
    int64_t span = step > 0 ? to - from : from - to, width = step > 0 ? step : -step;
    start[axis] = from;
    size[axis] = extent == 0 || span <= 0 ? 0 : (span - 1) / width + 1;
    stride[axis] = step;
    if (size[axis] == 0)
      start[axis] = 0;
    if (size[axis] <= 1)
      stride[axis] = 1;
  }
  n.set(0, b.slice(x, start, size, stride));
}

void split(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = b.axis(n.integer("axis", 0), b.rank(x)),
          parts = std::max<int64_t>(1, n.numOutputs());
  if (!b.ok())
    return;
  int64_t extent = b.shape(x)[axis];
  Dims sizes = n.has(1) ? b.needInts(n.in(1), "the sizes of the parts") : n.integers("split");
  if (sizes.empty()) {
    parts = n.integer("num_outputs", parts);
    if (!b.require(parts > 0 && parts <= 65536, "the number of parts must be positive"))
      return;
    int64_t chunk = (extent + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * chunk, 0, chunk));
  }
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!b.require(sizes[i] >= 0 && sizes[i] <= extent - at,
                   "the parts are longer than dimension " + Twine(axis)))
      return;
    n.set(int64_t(i), b.sliceAxis(x, axis, at, sizes[i]));
    at += sizes[i];
  }
  b.require(at == extent, "the parts are shorter than dimension " + Twine(axis));
}

void concat(Node &n, Build &b) {
  std::vector<Value> xs;
  for (int64_t i = 0; i < n.numInputs(); ++i)
    xs.push_back(n.in(i));
  n.set(0, b.concat(xs, b.axis(n.integer("axis", 1), b.rank(xs[0]))));
}

void pad(Node &n, Build &b) {
  Value x = n.in(0), value;
  int64_t rank = b.rank(x);
  std::string mode = n.string("mode", "constant");
  Dims pads, low(rank, 0), high(rank, 0);
  if (n.opset >= 11 || n.has(1)) {
    pads = b.needInts(n.in(1), "the pads");
    value = n.has(2) ? b.cast(b.reshape(n.in(2), {}), b.elem(x)) : b.like(x, 0);
  } else {
    pads = n.integers("pads");
    value = b.like(x, n.real("value", 0));
  }
  Dims axes = n.has(3) ? b.needInts(n.in(3), "the axes") : Dims();
  if (!n.has(3))
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  if (!b.ok() || !b.require(pads.size() == 2 * axes.size(),
                            "the pads must have two entries per axis, " + Twine(2 * axes.size()) +
                                ", and have " + Twine(pads.size())))
    return;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = b.axis(axes[i], rank);
    if (!b.ok())
      return;
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    constexpr int64_t least = -(int64_t(1) << 31);
    if (!b.require(Build::isSane(low[axis], least) && Build::isSane(high[axis], least),
                   "a pad is too large"))
      return;
  }
  PadMode kind = PadMode::constant;
  if (mode == "reflect")
    kind = PadMode::reflect;
  else if (mode == "edge")
    kind = PadMode::edge;
  else if (mode == "wrap")
    kind = PadMode::wrap;
  else if (mode != "constant")
    return n.unsupported("mode", mode, "constant, reflect, edge, wrap");
  n.set(0, b.pad(x, value, kind, low, high));
}

/// A new dimension before each one is stretched and then merged with it.
void tile(Node &n, Build &b) {
  Value x = n.in(0);
  Dims repeats = b.needInts(n.in(1), "the repeats");
  int64_t rank = b.rank(x);
  if (!b.ok() ||
      !b.require(int64_t(repeats.size()) == rank, "the repeats must have one entry per dimension"))
    return;
  Dims split, stretched, merged;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t extent = b.shape(x)[i];
    if (!b.require(Build::isSane(repeats[i], 0) && Build::isSane(extent, 0),
                   "a repeat is negative or too large"))
      return;
    split.insert(split.end(), {1, extent});
    stretched.insert(stretched.end(), {repeats[i], extent});
    merged.push_back(repeats[i] * extent);
  }
  n.set(0, b.reshape(b.broadcast(b.reshape(x, split), stretched), merged));
}

void centerCropPad(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  Dims target = b.needInts(n.in(1), "the shape"), all;
  for (int64_t i = 0; i < rank; ++i)
    all.push_back(i);
  Dims axes = n.integers("axes", all);
  if (!b.ok() || !b.require(axes.size() == target.size(), "the shape must have one entry per axis"))
    return;
  Dims low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = b.axis(axes[i], rank);
    if (!b.ok() || !b.require(target[i] >= 0 && target[i] < Build::countLimit,
                              "a dimension is negative or too large"))
      return;
    int64_t extent = b.shape(x)[axis], more = target[i] - extent;
    // Both halves round down towards the start.
    if (more >= 0) {
      low[axis] = more / 2;
      high[axis] = more - more / 2;
    } else {
      x = b.sliceAxis(x, axis, -more / 2, target[i]);
    }
  }
  n.set(0, b.padZero(x, low, high));
}

const Operator table[] = {
    {"Slice", 1, slice, "axes ends starts"},
    {"Split", 1, split, "axis num_outputs split"},
    {"Concat", 1, concat, "axis"},
    {"Pad", 1, pad, "mode pads value"},
    {"Pad", 2, pad, "mode", true, microsoft},
    {"Tile", 2, tile},
    {"CenterCropPad", 2, centerCropPad, "axes"},
};

} // namespace

ArrayRef<Operator> sliceOperators() { return table; }

} // namespace dlc::onnxfront

//===- Slice.cpp - slice, split, concat, pad, tile ------------------------===//
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
  axes = b.distinctAxes(axes, rank);
  Dims start(rank, 0), size = b.dims(x), stride(rank, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    if (!b.ok() || !b.require(steps[i] != 0 && steps[i] != INT64_MIN, "a step must not be 0"))
      return;
    int64_t axis = axes[i], extent = b.shape(x)[axis], step = steps[i];
    auto place = [&](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    // If the step is negative, the end may be -1, before the first element.
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
  const bool isSized = n.has(1) || n.hasAttr("split"), isNumbered = n.hasAttr("num_outputs");
  if (!b.ok() || !b.require(!isSized || !isNumbered,
                            "the parts are given twice; required: 'split' or 'num_outputs'; "
                            "found: both; remove one of them"))
    return;
  if (!isSized) {
    const int64_t wanted = n.integer("num_outputs", parts), chunk = (extent + parts - 1) / parts;
    if (!b.require(isNumbered || n.opset < 18,
                   "the parts are not given; required: 'split' or 'num_outputs'; found: none; add "
                   "the attribute 'num_outputs'") ||
        !b.require(wanted == parts, "attribute 'num_outputs' contradicts the node; required: " +
                                        Twine(parts) + ", its number of outputs; found: " +
                                        Twine(wanted) + "; correct the attribute") ||
        !b.require(isNumbered ? extent == 0 || (parts - 1) * chunk < extent : extent % parts == 0,
                   "dimension " + Twine(axis) + " of " + Twine(extent) +
                       " elements does not divide into " + Twine(parts) + " parts"))
      return;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(extent - i * chunk, 0, chunk));
  }
  if (!b.require(int64_t(sizes.size()) == parts,
                 "the sizes of the parts contradict the node; required: " + Twine(parts) +
                     ", one per output; found: " + Twine(sizes.size()) + "; correct the sizes"))
    return;
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

/// Crops the elements that negative pads remove, and sets these pads to 0. Pad modes other than
/// constant read only the remaining elements, as in ONNX Runtime.
Value cropNegativePads(Build &b, Value x, Dims &low, Dims &high) {
  Dims start(low.size(), 0), size = b.dims(x);
  for (size_t i = 0; i < low.size(); ++i) {
    start[i] = std::max<int64_t>(-low[i], 0);
    size[i] -= start[i] + std::max<int64_t>(-high[i], 0);
    if (!b.require(size[i] >= 0, "the pads remove more elements than dimension " + Twine(i) +
                                     " has; required: " + Twine(b.shape(x)[i]) +
                                     " at most; found: " + Twine(b.shape(x)[i] - size[i]) +
                                     "; correct the pads"))
      return {};
    low[i] = std::max<int64_t>(low[i], 0);
    high[i] = std::max<int64_t>(high[i], 0);
  }
  return size == b.dims(x) ? x : b.slice(x, start, size, Dims(low.size(), 1));
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
  axes = b.distinctAxes(axes, rank);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i];
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
  if (kind != PadMode::constant)
    x = cropNegativePads(b, x, low, high);
  n.set(0, b.pad(x, value, kind, low, high));
}

/// Tile: inserts a dimension of size `repeats` before each dimension by a broadcast, and merges the
/// two.
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
  axes = b.distinctAxes(axes, rank);
  Dims low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = axes[i];
    if (!b.ok() || !b.require(target[i] >= 0 && target[i] < Build::countLimit,
                              "a dimension is negative or too large"))
      return;
    int64_t extent = b.shape(x)[axis], more = target[i] - extent;
    // CenterCropPad rounds the offset at the start down, both to pad and to crop.
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
    {"Slice", slice},
    {"Split", split},
    {"Concat", concat},
    {"Pad", pad},
    {"Pad", 2, pad, "mode", microsoft},
    {"Tile", tile},
    {"CenterCropPad", centerCropPad},
};

} // namespace

ArrayRef<Operator> sliceOperators() { return table; }

} // namespace dlc::onnxfront

//===- SelectedBoxes.cpp - NonMaxSuppression and RoiAlign -----------------===//
#include "frontend/onnx/bounded/SelectedNode.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Converts boxes (x center, y center, width, height) to two opposite corners (y, x).
static Value convertBoxesToCorners(Build &b, Value boxes) {
  Value centre = b.reverse(b.sliceAxis(boxes, 2, 0, 2), 2),
        half = b.mul(b.reverse(b.sliceAxis(boxes, 2, 2, 2), 2), 0.5);
  return b.concat({b.sub(centre, half), b.add(centre, half)}, 2);
}

GraphValue buildNonMaxSuppression(Node &n, Build &b, const Selection *among) {
  Value boxes = n.in(0), scores = n.in(1);
  if (!b.ok() ||
      !b.require(b.rank(boxes) == 3 && b.rank(scores) == 3 && b.dim(boxes, 2) == 4 &&
                     b.dim(boxes, 0) == b.dim(scores, 0) && b.dim(boxes, 1) == b.dim(scores, 2),
                 "required boxes [batches, boxes, 4] and scores [batches, classes, "
                 "boxes]"))
    return {};
  auto number = [&](int64_t i, Type element) {
    return n.has(i) ? b.reshape(b.cast(n.in(i), element), {}) : b.scalar(element, 0);
  };
  const int64_t batches = b.dim(scores, 0), classes = b.dim(scores, 1), all = b.dim(scores, 2);
  Value limit = number(2, b.i64), candidates = b.splat(b.i1, b.shape(scores), 1);
  if (n.has(4))
    candidates = b.compare(Predicate::gt, scores, number(4, b.elem(scores)));
  if (among)
    candidates = b.both(candidates, broadcastMask(b, *among, scores, 2));
  auto most = b.attempt(limit);
  const int64_t k = most ? std::clamp<int64_t>(most->getInt(0), 0, all) : all;
  auto both = b.ops<NmsOp>({n.flag("center_point_box") ? convertBoxesToCorners(b, boxes) : boxes,
                            scores, candidates, number(3, b.f32)},
                           {b.attr("k", k)});
  if (both.size() != 2)
    return {};
  Value places = both[0], counts = b.reshape(both[1], {batches, classes, 1});
  if (!most)
    counts = b.min(counts, b.max(limit, b.like(limit, 0)));
  Dims shape{batches, classes, k};
  Value there = b.compare(Predicate::lt, b.iota(b.i64, {1, 1, k}, 2), counts);
  if (among)
    places = b.gather(compactIndices(b, *among), places, 0);
  Value rows = b.reshape(b.stack({b.iota(b.i64, shape, 0), b.iota(b.i64, shape, 1), places}, 3),
                         {batches * classes * k, 3});
  auto known = b.known(there);
  if (!known)
    return buildDynamicCompress(b, rows, b.flatten(there), 0);
  Dims chosen;
  for (int64_t i = 0; i < known->size(); ++i)
    if (known->getInt(i))
      chosen.push_back(i);
  return b.gather(rows, b.ints(chosen), 0);
}

/// Handles NonMaxSuppression of selected boxes. The resulting box indices refer to the selected
/// boxes only.
bool SelectedNode::nonMaxSuppression() {
  const Selection *boxes = selection(0), *scores = selection(1), *s = sharedSelection(0, 1);
  if (!s || s->within || !s->hasKnownCount() || (boxes && boxes->axis != 1) ||
      (scores && scores->axis != 2))
    return false;
  for (int64_t i = 2; i < n.numInputs(); ++i)
    if (selection(i))
      return false;
  n.set(0, buildNonMaxSuppression(n, b, s));
  return true;
}

bool SelectedNode::roiAlign() {
  const Selection *rois = selection(1), *batch = selection(2), *s = sharedSelection(1, 2);
  if (!s || selection(0) || s->within || (rois && rois->axis != 0) || (batch && batch->axis != 0))
    return false;
  std::vector<GraphValue> inputs = n.inputs;
  inputs[1] = rois ? fillUnselectedSlices(b, *s, n.in(1), 0) : n.in(1);
  inputs[2] = batch ? fillUnselectedSlices(b, *s, n.in(2), 0) : n.in(2);
  return setOutputs(run(std::move(inputs)), *s, 0);
}

} // namespace dlc::onnxfront

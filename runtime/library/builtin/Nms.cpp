//===- Nms.cpp - non-maximum suppression of boxes -----------------------------===//
//
// {"kind": "nms", "dtype": f32 f16 bf16 f64, "batch", "classes", "boxes", "max_output",
//  "center_point_box" = false, "max_per_class": N | "buffer", "iou_threshold": x | "buffer" = 0,
//  "score_threshold": x | "buffer" | absent (none)}
//   buffers: boxes [batch, boxes, 4], scores [batch, classes, boxes], then those parameters that
//   are "buffer" in the order above (i64; f32; f32), then selected [max_output, 3] (i64: batch,
//   class, box; rows past the count are -1) and count (i64). More than max_output selected boxes
//   are an error.
//
// Boxes are (y1, x1, y2, x2) with any two opposite corners, or (x, y, width, height) around a
// centre. A box is taken if its score is above the threshold and its intersection over union with
// every box taken before is at most the threshold; the lower box comes first among equal scores.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Message.h"
#include "runtime/program/Numeric.h"

#include <numeric>

namespace dlc::runtime::builtin {

namespace {

/// A parameter that is known or comes in a buffer.
struct Parameter {
  double value = 0;
  int buffer = -1;
  bool given = false;
};

struct Nms {
  DType dtype;
  int64_t batch, classes, boxes, maxOutput;
  bool centred;
  Parameter maxPerClass, iou, score;
  size_t selected, count;
};

struct Box {
  double low[2], high[2], area;
};

template <typename T> Box readBox(const T *corner, bool centred) {
  double a = load(corner[0]), b = load(corner[1]), c = load(corner[2]), d = load(corner[3]);
  Box box;
  if (centred)
    box = {{b - d / 2, a - c / 2}, {b + d / 2, a + c / 2}, 0};
  else
    box = {{std::min(a, c), std::min(b, d)}, {std::max(a, c), std::max(b, d)}, 0};
  box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  return box;
}

double overlap(const Box &a, const Box &b) {
  double sides[2];
  for (int d = 0; d < 2; ++d)
    sides[d] = std::max(0.0, std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]));
  double common = sides[0] * sides[1], joined = a.area + b.area - common;
  return joined > 0 ? common / joined : 0;
}

double valueOf(const Parameter &parameter, void *const *buffers, bool isInteger) {
  if (parameter.buffer < 0)
    return parameter.value;
  const void *data = buffers[parameter.buffer];
  return isInteger ? static_cast<double>(*static_cast<const int64_t *>(data))
                   : static_cast<double>(*static_cast<const float *>(data));
}

template <typename T>
std::vector<int64_t> selectOne(const Nms &nms, const T *corners, const T *scores, int64_t limit,
                               double iou, double threshold) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < nms.boxes; ++i)
    if (!nms.score.given || static_cast<double>(load(scores[i])) > threshold)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return lessThan(load(scores[b]), load(scores[a]));
  });
  std::vector<int64_t> taken;
  std::vector<Box> takenBoxes;
  for (int64_t candidate : order) {
    if (static_cast<int64_t>(taken.size()) >= limit)
      break;
    Box box = readBox(corners + candidate * 4, nms.centred);
    bool free = std::none_of(takenBoxes.begin(), takenBoxes.end(),
                             [&](const Box &other) { return overlap(box, other) > iou; });
    if (!free)
      continue;
    taken.push_back(candidate);
    takenBoxes.push_back(box);
  }
  return taken;
}

template <typename T>
void runNms(const Nms &nms, void *const *buffers, const CallContext &context) {
  const T *boxes = static_cast<const T *>(buffers[0]);
  const T *scores = static_cast<const T *>(buffers[1]);
  double wanted = valueOf(nms.maxPerClass, buffers, true);
  int64_t limit =
      static_cast<int64_t>(std::clamp<double>(wanted, 0, static_cast<double>(nms.boxes)));
  double iou = valueOf(nms.iou, buffers, false), threshold = valueOf(nms.score, buffers, false);
  int64_t groups = nms.batch * nms.classes;
  std::vector<std::vector<int64_t>> taken(static_cast<size_t>(groups));
  parallelFor(context.threads, groups, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t group = begin; group < end; ++group)
      taken[group] = selectOne(nms, boxes + group / nms.classes * nms.boxes * 4,
                               scores + group * nms.boxes, limit, iou, threshold);
  });
  int64_t *selected = static_cast<int64_t *>(buffers[nms.selected]);
  int64_t count = 0;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t box : taken[group]) {
      if (count == nms.maxOutput)
        fail("more than ", nms.maxOutput, " boxes were selected, for which the program has room");
      int64_t *row = selected + 3 * count++;
      row[0] = group / nms.classes;
      row[1] = group % nms.classes;
      row[2] = box;
    }
  std::fill(selected + 3 * count, selected + 3 * nms.maxOutput, -1);
  *static_cast<int64_t *>(buffers[nms.count]) = count;
}

} // namespace

std::unique_ptr<LibraryCall> makeNms(Request &request) {
  Nms nms;
  nms.dtype = request.dtype("dtype");
  if (!isFloating(nms.dtype))
    request.complain("dtype must be a floating-point type");
  nms.batch = request.size("batch");
  nms.classes = request.size("classes");
  nms.boxes = request.size("boxes");
  nms.maxOutput = request.size("max_output");
  nms.centred = request.flag("center_point_box", false);
  int64_t groups = 0, all = 0;
  if (__builtin_mul_overflow(nms.batch, nms.classes, &groups) ||
      __builtin_mul_overflow(std::max<int64_t>(groups, nms.batch), nms.boxes, &all) ||
      all > int64_t(1) << 40 || groups > int64_t(1) << 40 || nms.maxOutput > int64_t(1) << 40)
    request.complain("batch * classes * boxes is too large");
  size_t next = 2;
  auto parameter = [&](const char *name) {
    Parameter result;
    result.given = request.has(name);
    if (result.given && request.at(name) == "buffer")
      result.buffer = static_cast<int>(next++);
    else
      result.value = request.number(name, 0);
    return result;
  };
  nms.maxPerClass = parameter("max_per_class");
  nms.iou = parameter("iou_threshold");
  nms.score = parameter("score_threshold");
  nms.selected = next++;
  nms.count = next++;
  request.need("boxes", nms.batch * nms.boxes * 4, nms.dtype, false);
  request.need("scores", groups * nms.boxes, nms.dtype, false);
  if (nms.maxPerClass.buffer >= 0)
    request.need("max_per_class", 1, DType::I64, false);
  if (nms.iou.buffer >= 0)
    request.need("iou_threshold", 1, DType::F32, false);
  if (nms.score.buffer >= 0)
    request.need("score_threshold", 1, DType::F32, false);
  request.need("selected", nms.maxOutput * 3, DType::I64, true);
  request.need("count", 1, DType::I64, true);
  request.end();
  return makeCall("nms", [nms](void *const *buffers, const CallContext &context) {
    switch (nms.dtype) {
    case DType::F16:
      return runNms<Float16>(nms, buffers, context);
    case DType::BF16:
      return runNms<BFloat16>(nms, buffers, context);
    case DType::F64:
      return runNms<double>(nms, buffers, context);
    default:
      return runNms<float>(nms, buffers, context);
    }
  });
}

} // namespace dlc::runtime::builtin

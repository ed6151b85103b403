//===- Nms.cpp - non-maximum suppression of boxes -----------------------------===//
//
// Kind nms of schema/Builtin.def:
//   buffers: boxes [batch, boxes, 4], scores [batch, classes, boxes], candidates (bool, as scores),
//   the threshold, then the indices of selected boxes "places" [batch, classes, k] (i64; 0 after
//   the count) and counts [batch, classes] (i64). See dlc.nms.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlc::runtime::builtin {

namespace {

struct Nms {
  DType dtype, overlap;
  int64_t batch, classes, boxes, k;
};

struct Box {
  double low[2], high[2], area;
};

template <typename T> Box readBox(const T *corner) {
  double a = load(corner[0]), b = load(corner[1]), c = load(corner[2]), d = load(corner[3]);
  Box box = {{std::min(a, c), std::min(b, d)}, {std::max(a, c), std::max(b, d)}, 0};
  box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
  return box;
}

/// Returns true if the intersection over union (IoU) of two boxes is above the threshold.
bool isIouAbove(const Box &a, const Box &b, double threshold) {
  double common = 1;
  for (int d = 0; d < 2; ++d) {
    double side = std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]);
    if (!(side > 0))
      return threshold < 0;
    common *= side;
  }
  double joined = a.area + b.area - common;
  return (joined > 0 ? common / joined : 0) > threshold;
}

double readNumber(const void *data, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return load(*static_cast<const Float16 *>(data));
  case DType::BF16:
    return load(*static_cast<const BFloat16 *>(data));
  case DType::F64:
    return *static_cast<const double *>(data);
  default:
    return *static_cast<const float *>(data);
  }
}

/// Spatial index of the selected boxes. It divides one dimension into cells: the dimension in which
/// the boxes are smallest relative to the whole extent. A cell is as long as the longest box, so a
/// box can only overlap boxes in its own cell and in the two adjacent cells.
class SelectedBoxes {
public:
  SelectedBoxes(const std::vector<Box> &boxes, double threshold) : threshold(threshold) {
    for (int d = 0; d < 2 && threshold >= 0; ++d) {
      double low = std::numeric_limits<double>::infinity(), high = -low, longest = 0;
      bool isFinite = true;
      for (const Box &box : boxes) {
        low = std::min(low, box.low[d]);
        high = std::max(high, box.high[d]);
        longest = std::max(longest, box.high[d] - box.low[d]);
        isFinite &= std::isfinite(box.low[d]) && std::isfinite(box.high[d]);
      }
      // The cells are slightly longer than the longest box, so that rounding cannot move two
      // overlapping boxes more than one cell apart.
      const double length = longest * (1 + 1e-6), number = (high - low) / length;
      if (isFinite && length > 0 && number > double(cells.size())) {
        dimension = d;
        first = low;
        scale = 1 / std::max(length, (high - low) / kMaxCells);
        cells.resize(static_cast<size_t>(std::min(number, kMaxCells)) + 1);
      }
    }
    if (cells.empty())
      cells.resize(1);
  }

  /// Selects a box unless it overlaps a selected box by more than the threshold. Returns true if
  /// the box is selected.
  bool take(const Box &box) {
    const size_t cell = cellOf(box);
    for (size_t c = cell - (cell > 0); c < std::min(cell + 2, cells.size()); ++c)
      for (const Box &other : cells[c])
        if (isIouAbove(box, other, threshold))
          return false;
    cells[cell].push_back(box);
    return true;
  }

private:
  static constexpr double kMaxCells = 4096;

  size_t cellOf(const Box &box) const {
    return cells.size() == 1 ? 0
                             : std::min(static_cast<size_t>((box.low[dimension] - first) * scale),
                                        cells.size() - 1);
  }

  double threshold, first = 0, scale = 0;
  int dimension = 0;
  std::vector<std::vector<Box>> cells;
};

/// Runs non-maximum suppression on one row of scores: writes the indices of the selected boxes and
/// returns their number.
template <typename T>
int64_t suppress(const Nms &nms, const T *corners, const T *scores, const uint8_t *candidates,
                 double threshold, int64_t *places) {
  using C = decltype(load(T()));
  std::vector<std::pair<C, int64_t>> order;
  for (int64_t i = 0; i < nms.boxes; ++i)
    if (candidates[i])
      order.emplace_back(load(scores[i]), i);
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    bool less = lessThan(b.first, a.first);
    return less || (!lessThan(a.first, b.first) && a.second < b.second);
  });
  std::vector<Box> boxes;
  boxes.reserve(order.size());
  for (auto [score, place] : order)
    boxes.push_back(readBox(corners + place * 4));
  SelectedBoxes taken(boxes, threshold);
  int64_t count = 0;
  for (size_t i = 0; i < order.size() && count < nms.k; ++i)
    if (taken.take(boxes[i]))
      places[count++] = order[i].second;
  std::fill(places + count, places + nms.k, 0);
  return count;
}

template <typename T>
void runNms(const Nms &nms, void *const *buffers, const CallContext &context) {
  const T *boxes = static_cast<const T *>(buffers[0]);
  const T *scores = static_cast<const T *>(buffers[1]);
  const uint8_t *candidates = static_cast<const uint8_t *>(buffers[2]);
  double threshold = readNumber(buffers[3], nms.overlap);
  int64_t *places = static_cast<int64_t *>(buffers[4]),
          *counts = static_cast<int64_t *>(buffers[5]);
  parallelFor(context.threads, nms.batch * nms.classes, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      counts[row] =
          suppress(nms, boxes + row / nms.classes * nms.boxes * 4, scores + row * nms.boxes,
                   candidates + row * nms.boxes, threshold, places + row * nms.k);
  });
}

} // namespace

std::unique_ptr<LibraryCall> makeNms(KernelRequest &request) {
  const auto fields = request.read<schema::Nms>();
  requireFloating(fields, "dtype", fields.dtype);
  requireFloating(fields, "overlap", fields.overlap);
  Nms nms;
  nms.dtype = fields.dtype;
  nms.overlap = fields.overlap;
  nms.batch = fields.batch;
  nms.classes = fields.classes;
  nms.boxes = fields.boxes;
  nms.k = fields.k;
  int64_t groups = 0, all = 0;
  if (__builtin_mul_overflow(nms.batch, nms.classes, &groups) ||
      __builtin_mul_overflow(std::max<int64_t>(groups, nms.batch), nms.boxes, &all) ||
      all > int64_t(1) << 40 || groups > int64_t(1) << 40)
    fields.complain("batch * classes * boxes is too large");
  if (nms.k > nms.boxes)
    fields.complain("k must be at most the number of boxes");
  request.need("boxes", nms.batch * nms.boxes * 4, nms.dtype, false);
  request.need("scores", groups * nms.boxes, nms.dtype, false);
  request.need("candidates", groups * nms.boxes, DType::Bool, false);
  request.need("overlap", 1, nms.overlap, false);
  request.need("places", groups * nms.k, DType::I64, true);
  request.need("counts", groups, DType::I64, true);
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

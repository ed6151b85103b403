//===- LanePool.cpp - pooling of images in vectors of channels ------------===//
//
// Kind lane_pool of schema/Builtin.def:
//   of f32; "max" without positions may have "dtype" f32, u8 or i8. Tensors [N, C, H, W] are stored
//   as [N, C / group, H, W, group] (nChw16c), or channels last if one group has all channels.
//   buffers of max: src, dst, [positions: u8, as in max_pool_positions]; of average: src, dst;
//   of max_grad: dy, positions, dx; of average_grad: dy, dx
//
// A gradient is computed as a gather: each of its elements is written once and need not be set to 0
// first.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/LanePool.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Pooling.h"

namespace dlc::runtime::builtin {

LanePitches lanePitches(int64_t groups, int64_t channels, const int64_t *size) {
  LanePitches p;
  p.pixel = channels;
  p.row = size[1] * p.pixel;
  p.group = size[0] * p.row;
  p.image = groups * p.group;
  return p;
}

namespace {

/// Minimum size of a gradient for non-temporal stores: a smaller gradient may still be in the
/// caches when it is read. (With a limit of 16 MiB, non-temporal stores were slower on machines
/// whose large L3 cache held the gradient.)
constexpr int64_t kLargeBytes = 32 << 20;

/// Geometry of the pooling, which owns the lists that `pool` points to.
struct PoolGeometry {
  LanePool pool;
  int64_t images = 0;
  std::vector<LaneTapRange> reaches[2];
  std::vector<LaneWindow> visits[2];
  std::vector<int64_t> visitsFrom[2];

  PoolGeometry(const schema::LanePool &fields, const Pooling &given) {
    int64_t channels = given.channels;
    images = given.batch;
    pool.channels = fields.group;
    if (given.rank() != 2 || pool.channels < 1 || channels % pool.channels != 0)
      fields.complain("the vector kernel requires [N, C, H, W] whose channels are a multiple of "
                      "the group size");
    pool.groups = channels / pool.channels;
    auto reach =
        reachesOf(given, fields.includePad.value_or(false), countedPads(fields, given.rank()));
    for (int d = 0; d < 2; ++d) {
      pool.size[d] = given.src[d];
      pool.outSize[d] = given.dst[d];
      pool.kernel[d] = given.window.sizes[d];
    }
    pool.src = lanePitches(pool.groups, pool.channels, pool.size);
    pool.dst = lanePitches(pool.groups, pool.channels, pool.outSize);
    for (int d = 0; d < 2; ++d) {
      int64_t from = d ? pool.src.pixel : pool.src.row, to = d ? pool.dst.pixel : pool.dst.row;
      int64_t taps =
          d ? 1 : given.window.sizes[1]; // distance of adjacent taps, in row-major tap numbers
      pool.step[d] = given.window.dilations[d] * from;
      std::vector<std::vector<LaneWindow>> of(static_cast<size_t>(given.src[d]));
      for (size_t o = 0; o < reach[d].size(); ++o) {
        const TapRange &r = reach[d][o];
        float part = r.counted > 0 ? 1.0f / float(r.counted) : 0.0f;
        reaches[d].push_back({(r.origin + r.first * given.window.dilations[d]) * from,
                              int32_t(r.first * taps), int32_t(r.last - r.first), part});
        for (int64_t tap = r.first; tap < r.last; ++tap)
          of[static_cast<size_t>(r.origin + tap * given.window.dilations[d])].push_back(
              {int64_t(o) * to, int32_t(tap * taps), part});
      }
      visitsFrom[d].push_back(0);
      for (const std::vector<LaneWindow> &list : of) {
        visits[d].insert(visits[d].end(), list.begin(), list.end());
        visitsFrom[d].push_back(static_cast<int64_t>(visits[d].size()));
      }
      pool.reaches[d] = reaches[d].data();
      pool.visits[d] = visits[d].data();
      pool.visitsFrom[d] = visitsFrom[d].data();
    }
  }
  PoolGeometry(const PoolGeometry &) = delete;

  int64_t rows(const int64_t *size) const { return images * pool.groups * size[0]; }
};

} // namespace

std::unique_ptr<LibraryCall> makeLanePool(KernelRequest &request) {
  const auto fields = request.read<schema::LanePool>();
  Pooling given(fields);
  using Op = schema::LanePoolOp;
  bool isMax = fields.op == Op::Max || fields.op == Op::MaxGrad,
       isGradient = fields.op == Op::MaxGrad || fields.op == Op::AverageGrad;
  if (given.taps > 256)
    fields.complain("positions are bytes, so the window must have at most 256 elements");
  bool tells = isMax && request.buffers == 3;
  DType type = fields.dtype;
  bool isBytes = type == DType::U8 || type == DType::I8;
  if (type != DType::F32 && (!isBytes || !isMax || isGradient || tells))
    fields.complain("the vector kernel supports f32, and max pooling of u8 and i8");
  size_t last = isMax && (isGradient || tells) ? 2 : 1;
  auto positions = [&](bool written) {
    if (last == 2)
      request.need("positions", given.resultElements(), DType::U8, written);
  };
  if (isGradient) {
    request.need("dy", given.resultElements(), DType::F32, false);
    positions(false);
    request.need("dx", given.sourceElements(), DType::F32, true);
  } else {
    request.need("src", given.sourceElements(), type, false);
    request.need("dst", given.resultElements(), type, true);
    positions(true);
  }
  request.end();
  // Only after the buffers are checked, since the geometry has an entry for each row and column.
  auto geometry = std::make_shared<const PoolGeometry>(fields, given);
  const LanePool &pool = geometry->pool;
  if (pool.channels % 8 != 0)
    fields.complain("the vector kernel requires channel groups of a multiple of 8");
  const LanePoolKernels *kernels = selectKernels(
      isBytes || pool.channels % 16 == 0 ? hostLanes() : 8, [] { return &lanePoolScalar; },
      [] { return &lanePoolAvx2; }, [] { return &lanePoolAvx512; });
  int64_t rows = geometry->rows(isGradient ? pool.size : pool.outSize);
  // Minimum number of rows for each thread: about 8192 elements.
  int64_t each = (isGradient ? pool.size : pool.outSize)[1] * pool.channels;
  int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, each));
  bool isLarge =
      isGradient && given.sourceElements() * static_cast<int64_t>(sizeof(float)) >= kLargeBytes;
  auto run = [=](void *const *buffers, const CallContext &context) {
    auto at = [&](size_t i) { return static_cast<float *>(buffers[i]); };
    auto bytes = [&](size_t i) { return static_cast<uint8_t *>(buffers[i]); };
    LanePool p = geometry->pool;
    p.nonTemporal =
        isLarge &&
        reinterpret_cast<uintptr_t>(buffers[last]) % (kernels->lanes * sizeof(float)) == 0;
    parallelFor(context.threads, rows, grain, [&](int64_t begin, int64_t end, int) {
      if (isBytes)
        (type == DType::U8 ? kernels->maxBytes : kernels->maxSignedBytes)(p, bytes(0), bytes(1),
                                                                          begin, end);
      else if (isMax && isGradient)
        kernels->maxGradient(p, at(0), bytes(1), at(2), begin, end);
      else if (isMax)
        kernels->max(p, at(0), at(1), tells ? bytes(2) : nullptr, begin, end);
      else if (isGradient)
        kernels->averageGradient(p, at(0), at(1), begin, end);
      else
        kernels->average(p, at(0), at(1), begin, end);
    });
  };
  return makeCall(std::string("lane_pool:") + nameOf(fields.op) + ":" +
                      std::string(getKernelSetName(kernels->lanes)),
                  run);
}

} // namespace dlc::runtime::builtin

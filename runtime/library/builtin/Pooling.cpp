//===- Pooling.cpp - how windows slide over [N, C, spatial...] ----------------===//
#include "runtime/library/builtin/Pooling.h"

namespace dlc::runtime::builtin {

std::vector<int64_t> Pooling::list(const Request &request, const char *name, size_t rank,
                                   int64_t otherwise) {
  if (!request.has(name))
    return std::vector<int64_t>(rank, otherwise);
  const nlohmann::json &entries = request.desc[name];
  if (!entries.is_array() || entries.size() != rank)
    request.complain(std::string(name) + " must have one entry per spatial dimension");
  std::vector<int64_t> values;
  for (const nlohmann::json &entry : entries) {
    // Padding may be negative: it cuts off.
    if (!entry.is_number_integer() || std::abs(entry.get<int64_t>()) > INT32_MAX)
      request.complain(std::string(name) + " must hold integers below 2^31");
    values.push_back(entry.get<int64_t>());
  }
  return values;
}

Pooling::Pooling(const Request &request) {
  std::vector<int64_t> from = request.sizes("src"), to = request.sizes("dst");
  if (from.size() < 3 || from.size() != to.size() || from[0] != to[0] || from[1] != to[1])
    request.complain("src and dst must be [N, C, spatial...] with the same N and C");
  src.assign(from.begin() + 2, from.end());
  dst.assign(to.begin() + 2, to.end());
  kernel = list(request, "kernel", rank(), -1);
  strides = list(request, "strides", rank(), 1);
  steps = list(request, "dilations", rank(), 0);
  pads = list(request, "pads_l", rank(), 0);
  for (int64_t &step : steps)
    ++step;
  for (size_t d = 0; d < rank(); ++d)
    if (kernel[d] < 1 || strides[d] < 1 || steps[d] < 1)
      request.complain("kernel sizes and strides must be at least 1, dilations at least 0");
  planes = from[0] * from[1];
  pixels = product(src);
  outputs = product(dst);
  taps = 1;
  for (int64_t size : kernel)
    if (__builtin_mul_overflow(taps, size, &taps))
      request.complain("the kernel is too large");
  srcStrides.resize(rank());
  int64_t step = 1;
  for (size_t d = rank(); d-- > 0;) {
    srcStrides[d] = step;
    step *= src[d];
  }
}

/// The first k >= 0 with origin + k * step >= bound.
static int64_t tapsBefore(int64_t origin, int64_t step, int64_t bound, int64_t kernel) {
  if (origin >= bound)
    return 0;
  return std::min(kernel, (bound - origin + step - 1) / step);
}

std::vector<std::vector<Reach>> reachesOf(const Pooling &pool, bool includePad,
                                          const std::vector<int64_t> &countedHigh) {
  std::vector<std::vector<Reach>> all(pool.rank());
  for (size_t d = 0; d < pool.rank() && pool.results() > 0; ++d)
    for (int64_t o = 0; o < pool.dst[d]; ++o) {
      Reach reach;
      int64_t step = pool.steps[d], kernel = pool.kernel[d];
      reach.origin = o * pool.strides[d] - pool.pads[d];
      reach.first = tapsBefore(reach.origin, step, 0, kernel);
      reach.last = std::max(reach.first, tapsBefore(reach.origin, step, pool.src[d], kernel));
      reach.counted = reach.last - reach.first;
      if (includePad)
        reach.counted = tapsBefore(reach.origin, step, pool.src[d] + countedHigh[d], kernel) -
                        tapsBefore(reach.origin, step, -pool.pads[d], kernel);
      all[d].push_back(reach);
    }
  return all;
}

} // namespace dlc::runtime::builtin

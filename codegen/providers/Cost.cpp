//===- Cost.cpp - analytical cost model of kernels ------------------------===//
#include "codegen/providers/Cost.h"

#include "passes/TensorBuilder.h"

#include <cmath>

using namespace mlir;

namespace dlc {

CostModel::CostModel(const Profile &profile, const cpu::Target &target, int threads,
                     bool weightsStay)
    : machine(scaleToVectorWidth(profile, target.vectorBits)), threads(std::max(1, threads)),
      lanes(double(target.lanes32())) {
  if (!target.has(runtime::Feature::Avx512bf16))
    machine.libraryBf16Gain = machine.libraryBf16Convolutions = 1;
  if (weightsStay)
    machine.streamedGigabytes = machine.libraryStreamedGigabytes = machine.libraryBesideGigabytes =
        machine.vectorsBesideGigabytes = machine.contractStreamedGigabytes = 0;
}

double CostModel::traffic(double bytes, double cores) const {
  // Each byte beyond the cache's capacity also evicts a byte of the other data before that byte is
  // read again, so the excess counts twice.
  auto beyond = [&](double held) { return std::clamp(2 * (bytes - held), 0.0, bytes); };
  double memory = beyond(machine.cacheBytes), cache = beyond(machine.nearBytes) - memory;
  double near = bytes - cache - memory;
  return (near / machine.nearGigabytes + cache / machine.cacheGigabytes) / cores +
         memory / machine.memoryGigabytes;
}

double CostModel::streamed(double bytes, double rate, double cores) const {
  return rate > 0 ? std::max(0.0, bytes) / std::min(machine.memoryGigabytes, rate * cores) : 0;
}

double CostModel::coresFor(double flops) const { return flops > machine.wakeFlops ? threads : 1; }

double CostModel::coresFor(const cpu::KernelPlan &plan) const {
  return std::clamp(double(plan.extent) / double(std::max<int64_t>(1, plan.grain)), 1.0, threads);
}

double CostModel::streamedWeights(const LibraryCall &call, double nanoseconds, double rate,
                                  double cores) const {
  return std::min(nanoseconds, streamed(sumPackedBytes(call), rate, cores));
}

double CostModel::ended(double nanoseconds, double overhead, double cores) const {
  return nanoseconds / 1000 + overhead + (cores > 1 ? machine.wake : 0);
}

double CostModel::ended(const LibraryCall &call, double nanoseconds) const {
  return ended(nanoseconds, machine.call, coresFor(call.flops + call.bytes));
}

double CostModel::least(double flops, double bytes) const {
  double cores = coresFor(flops + bytes);
  return ended(std::max(flops / (machine.libraryGflops * cores), traffic(bytes, cores)),
               machine.call, cores);
}

double CostModel::lowerBoundTransposed(double flops) const {
  // Maximum factor by which the library's actual rate exceeds the rate that the cost model assumes.
  constexpr double kBetter = 1.5;
  return flops / (machine.convolutionGflops * machine.transposedPart * kBetter * threads) / 1000;
}

double CostModel::prologue(double elements, bool exponential) const {
  return elements / ((exponential ? machine.changedByExponential : machine.changed) * threads) /
         1000;
}

double CostModel::sums(double elements) const {
  return elements / (machine.summedPacked * lanes / 16 * threads) / 1000;
}

double CostModel::statistics(double elements) const {
  return elements / (machine.summed * lanes / 16 * threads) / 1000;
}

double laneShare(double n, double lanes) { return n / (std::ceil(n / lanes) * lanes); }

double multiplySizes(ArrayRef<int64_t> sizes, size_t drop) {
  double n = 1;
  for (size_t i = 0; i + drop < sizes.size(); ++i)
    n *= double(sizes[i]);
  return n;
}

template <typename Pool> static double countPoolTaps(Pool pool) {
  ArrayRef<int64_t> image = typeOf(pool.getX()).getShape().drop_front(2),
                    result = typeOf(pool->getResult(0)).getShape();
  double taps = double(result[0] * result[1]);
  for (size_t d = 0; d < image.size(); ++d) {
    int64_t inside = 0;
    for (int64_t at = 0; at < result[d + 2]; ++at)
      for (int64_t tap = 0; tap < pool.getWindow()[d]; ++tap) {
        int64_t place = at * pool.getStrides()[d] + tap * pool.getDilations()[d] - pool.getLow()[d];
        inside += place >= 0 && place < image[d];
      }
    taps *= double(inside);
  }
  return taps;
}

double countNonPaddingTaps(Operation *pool) {
  auto max = dyn_cast<MaxPoolOp>(pool);
  return max ? countPoolTaps(max) : countPoolTaps(cast<AvgPoolOp>(pool));
}

double sumPackedBytes(const LibraryCall &call) {
  double bytes = 0;
  for (const CallArgument &argument : call.arguments)
    bytes += argument.kind == CallArgument::Kind::Packed ? double(argument.bytes) : 0;
  return bytes;
}

} // namespace dlc

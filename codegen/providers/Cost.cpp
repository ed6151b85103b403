//===- Cost.cpp - how long kernels may take, by arithmetic alone ----------===//
#include "codegen/providers/Cost.h"

#include <cmath>

using namespace mlir;

namespace dlc {

Machine Machine::inVectors() {
  Machine machine;
  machine.libraryGflops = 158;
  machine.libraryPackedPart = 1.16;
  machine.vectorsGflops = 178;
  machine.convolutionGflops = 160;
  machine.directGflops = 168;
  machine.streamedGigabytes = 10;
  machine.libraryStreamedGigabytes = 15;
  machine.libraryBesideGigabytes = 9.4;
  machine.vectorsBesideGigabytes = 22;
  machine.contractStreamedGigabytes = 6.5;
  machine.libraryStrided = 0.9;
  machine.contractGflops = 140;
  machine.contractLargeGflops = 118;
  machine.gemmPart = 1.15;
  machine.gemmInner = 8192;
  machine.gemmLongPart = 0.97;
  machine.gemmPacked = machine.gemmTransposed = 2;
  machine.gemmAcross = 1.4;
  machine.contractAcross = 0.2;
  machine.nearBytes = 4e6;
  machine.cacheGigabytes = 16;
  return machine;
}

Machine Machine::withTiles() {
  Machine machine;
  machine.libraryGflops = 105;
  machine.convolutionGflops = 100;
  machine.directGflops = 95;
  // Vectors multiply bf16 slowly where there are tiles.
  machine.libraryBf16Convolutions = 0.6;
  machine.transformedGigabytes = 20;
  machine.vectorsGflops = 115;
  machine.contractGflops = 95;
  machine.contractLargeGflops = 90;
  // Its gemm is ahead for sums of few products, where packing costs little: of a right operand that
  // many rows share.
  machine.gemmPart = 1.12;
  machine.gemmInner = 512;
  machine.gemmTransposed = 1.15;
  machine.shortRuns = 5;
  machine.shortInner = 32;
  machine.shortInnerPart = 1.35;
  machine.attentionGflops = 75;
  machine.attentionScores = 1.5;
  return machine;
}

CostModel::CostModel(const cpu::Target &target, int threads)
    : threads(std::max(1, threads)), lanes(double(target.lanes32())) {
  if (StringRef(target.features).contains("+amx-tile"))
    machine = Machine::withTiles();
  else if (target.vectorBits >= 512 && !StringRef(target.cpu).starts_with("znver"))
    machine = Machine::inVectors();
  if (target.vectorBits < 512)
    for (double *figure :
         {&machine.libraryGflops, &machine.vectorsGflops, &machine.contractGflops,
          &machine.contractLargeGflops, &machine.convolutionGflops, &machine.directGflops,
          &machine.recurrentGflops, &machine.innerProductGflops})
      *figure /= 2;
  if (!StringRef(target.features).contains("+avx512bf16"))
    machine.libraryBf16Gain = machine.libraryBf16Convolutions = 1;
}

double CostModel::traffic(double bytes, double cores) const {
  if (bytes > machine.cacheBytes)
    return bytes / machine.memoryGigabytes;
  return bytes /
         ((bytes > machine.nearBytes ? machine.cacheGigabytes : machine.nearGigabytes) * cores);
}

double CostModel::streamed(double bytes, double rate, double cores) const {
  return rate > 0 ? std::max(0.0, bytes) / std::min(machine.memoryGigabytes, rate * cores) : 0;
}

double CostModel::coresFor(double flops) const { return flops > machine.wakeFlops ? threads : 1; }

double CostModel::coresFor(const cpu::KernelPlan &plan) const {
  return std::clamp(double(plan.extent) / double(std::max<int64_t>(1, plan.grain)), 1.0, threads);
}

double CostModel::beside(const LibraryCall &call, double nanoseconds, double rate,
                         double cores) const {
  return std::min(nanoseconds, streamed(packedBytes(call), rate, cores));
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

double productOf(ArrayRef<int64_t> sizes, size_t drop) {
  double n = 1;
  for (size_t i = 0; i + drop < sizes.size(); ++i)
    n *= double(sizes[i]);
  return n;
}

double packedBytes(const LibraryCall &call) {
  double bytes = 0;
  for (const CallArgument &argument : call.arguments)
    bytes += argument.kind == CallArgument::Kind::Packed ? double(argument.bytes) : 0;
  return bytes;
}

bool isShared(const nlohmann::json &strides) {
  std::vector<int64_t> list = strides;
  return llvm::all_of(ArrayRef(list).drop_back(2), [](int64_t stride) { return stride == 0; });
}

} // namespace dlc

//===- GpuLibrary.cpp - common base of the GPU vendor libraries -----------===//
#include "codegen/providers/gpu/GpuLibrary.h"

#include "codegen/cuda/Target.h"

#include <cmath>
#include <map>
#include <mutex>

using namespace mlir;

namespace dlc {

GpuCostParameters getGpuCostParameters(const CandidateCollector &collector) {
  // The parameters of each GPU are cached, because this function is called for each operation of a
  // program.
  static std::mutex mutex;
  static auto *known = new std::map<std::pair<std::string, std::string>, GpuCostParameters>();
  std::lock_guard<std::mutex> guard(mutex);
  const SelectionContext &selection = collector.selection;
  auto [at, isNew] = known->try_emplace({selection.device, selection.gpuArch});
  if (isNew) {
    std::string why;
    constexpr int kCommon = 90;
    auto target = cuda::targetOf(selection.device, selection.gpuArch, why);
    at->second = target ? target->figures : usualGpu(kCommon);
  }
  return at->second;
}

double getArithmeticRate(const GpuCostParameters &gpu, StringRef element, bool tf32) {
  if (element == "bf16" || element == "f16")
    return gpu.tensor16;
  if (element == "f64")
    return gpu.f64;
  return tf32 && gpu.tensor32 > 0 ? gpu.tensor32 : gpu.f32;
}

void GpuLibrary::propose(CandidateCollector &collector) const {
  // A program that calls a library needs the library at run time. Therefore a library that is
  // missing on this machine has no candidates.
  if (!cuda::loadLibrary(library))
    return;
  std::string why;
  auto call = describe(collector.op, &why);
  if (!call || !supports(collector.selection.device, *call, &why))
    return collector.refuse(about.name, why);
  GpuCostParameters gpu = getGpuCostParameters(collector);
  double first = kGpuLaunch + call->costFactor * std::max(getMatmulSizes(*call, gpu).time(gpu),
                                                          call->bytes / gpu.gigabytes * 1e-3);
  collector.add(about.name, *call, first);
  // The library proposes implementations in order of preference. `kProposals`: how many of them
  // become candidates. `kLater`: the assumed time of each proposal relative to the one before it.
  constexpr int kProposals = 4;
  constexpr double kLater = 1.02;
  Builder b(collector.op->getContext());
  std::string name = call->implementation;
  for (int i = 2; collector.selection.every && i <= kProposals; ++i) {
    call->implementation = name + "#" + std::to_string(i);
    collector.add(about.name, *call, first * std::pow(kLater, i - 1),
                  b.getDictionaryAttr(b.getNamedAttr(number, b.getI64IntegerAttr(i))));
  }
}

std::optional<LibraryCall> GpuLibrary::call(Operation *op, DictionaryAttr parameters, int,
                                            std::string *why) const {
  auto call = describe(op, why);
  auto variant = parameters ? parameters.getAs<IntegerAttr>(number) : IntegerAttr();
  if (call && variant) {
    schema::GpuChoice chosen;
    chosen.*choice = variant.getInt();
    call->desc.update(chosen.toJson());
    call->implementation += "#" + std::to_string(variant.getInt());
  }
  return call;
}

} // namespace dlc

//===- GpuLibrary.cpp - what vendors' libraries on GPUs have in common -----===//
#include "codegen/providers/GpuLibrary.h"

#include <cmath>

using namespace mlir;

namespace dlc {

DeviceFigures gpuFigures(const Proposals &proposals) {
  return CostTable::figuresOf(
      *OnAttr::fromName(proposals.op->getContext(), proposals.situation.device));
}

void GpuLibrary::propose(Proposals &proposals) const {
  // A program that calls a library needs it wherever it runs: what is not here is not counted on.
  if (!cuda::loaded(library))
    return;
  std::string why;
  auto call = describe(proposals.op, &why);
  if (!call || !takes(proposals.situation.device, *call, &why))
    return proposals.refuse(about.name, why);
  // Products of a library come nearer to the limit; what it does not fuse it does not have.
  constexpr double libraryGain = 1.5;
  DeviceFigures gpu = gpuFigures(proposals);
  double rate = gpu.gigaflops * libraryGain;
  double first =
      gpu.launch + call->effort * std::max(call->flops / rate, call->bytes / gpu.gigabytes) * 1e-3;
  proposals.add(about.name, *call, first);
  // Of its proposals, how many are worth a measurement; and what the library holds of each that is
  // not its first.
  constexpr int kProposals = 4;
  constexpr double kLater = 1.02;
  Builder b(proposals.op->getContext());
  std::string name = call->implementation;
  for (int i = 2; proposals.situation.every && i <= kProposals; ++i) {
    call->implementation = name + "#" + std::to_string(i);
    proposals.add(about.name, *call, first * std::pow(kLater, i - 1),
                  b.getDictionaryAttr(b.getNamedAttr(number, b.getI64IntegerAttr(i))));
  }
}

std::optional<LibraryCall> GpuLibrary::call(Operation *op, DictionaryAttr parameters, int,
                                            std::string *why) const {
  auto call = describe(op, why);
  auto way = parameters ? parameters.getAs<IntegerAttr>(number) : IntegerAttr();
  if (call && way) {
    call->desc[number] = way.getInt();
    call->implementation += "#" + std::to_string(way.getInt());
  }
  return call;
}

} // namespace dlc

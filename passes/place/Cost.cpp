//===- Cost.cpp - cost model of devices and of the links between them -----===//
#include "passes/place/Cost.h"

#include "ir/dlc/Shape.h"
#include "ir/tensor/Tensor.h"
#include "passes/Devices.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

double elementsOf(Value value) {
  double count = 1;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (const Dim &dim : TensorShape(type).dims())
      count *= dim.isStatic() ? double(dim.number()) : 1;
  return count;
}

double bodyFlops(Region &region) {
  double sum = 0;
  for (Block &block : region)
    for (Operation &op : block.without_terminator())
      sum += estimateFlops(&op);
  return sum;
}

} // namespace

int64_t tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  SmallVector<int64_t> shape;
  for (const Dim &dim : TensorShape(tensor).dims())
    shape.push_back(dim.isStatic() ? dim.number() : 1);
  return ref::storageBytes(makeTensorType(shape, tensor.getElementType()));
}

double estimateMemoryTraffic(Operation *op) {
  double bytes = 0;
  for (Value operand : op->getOperands())
    bytes += double(tensorBytes(operand.getType()));
  for (Value result : op->getResults())
    bytes += double(tensorBytes(result.getType()));
  return bytes;
}

double estimateFlops(Operation *op) {
  if (auto loop = dyn_cast<LoopOp>(op)) {
    double trips = loop.getTrip() ? splatValue(loop.getTrip()).value_or(1) : 1;
    return std::max(1.0, trips) * bodyFlops(loop.getBody());
  }
  if (auto branch = dyn_cast<IfOp>(op))
    return std::max(bodyFlops(branch.getThenRegion()), bodyFlops(branch.getElseRegion()));
  if (auto fusion = dyn_cast<FusionOp>(op))
    return bodyFlops(fusion.getBody());
  auto multiplies = dyn_cast<MultiplyAddInterface>(op);
  double flops = multiplies ? 2 * multiplies.countMultiplyAdds() : 0;
  if (flops > 0 && !op->hasTrait<Recurrent>())
    return flops;
  // The estimate adds one FLOP per element of the largest operand or result. For recurrent layers,
  // this represents the elementwise operations in addition to the matmuls.
  double elements = 0;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    elements = std::max(elements, elementsOf(value));
  return flops + elements;
}

namespace {

/// Cost-model parameters of a device kind that is not available: those of a typical CPU.
constexpr dlc_device_figures kUnknown = {400, 30, 1, 10, 10, 10, 10};

const dlc_device_figures &getDeviceKindParameters(const runtime::DeviceKind &kind) {
  return kind.table ? kind.table->figures : kUnknown;
}

} // namespace

DeviceParameters PlacementCostModel::figuresOf(OnAttr device) {
  const dlc_device_figures &kind = getDeviceKindParameters(getDeviceKind(device));
  return {kind.gigaflops, kind.gigabytes, kind.launch};
}

LinkParameters PlacementCostModel::linkOf(StringRef from, StringRef to) {
  const auto &a = runtime::deviceKind(std::string_view(from.split(':').first));
  const auto &b = runtime::deviceKind(std::string_view(to.split(':').first));
  const dlc_device_figures &source = getDeviceKindParameters(a),
                           &target = getDeviceKindParameters(b);
  if (&a == &b)
    return {source.peer_gigabytes, source.peer_latency};
  if (a.can(DLC_DEVICE_HOST_MEMORY))
    return {target.host_gigabytes, target.host_latency};
  if (b.can(DLC_DEVICE_HOST_MEMORY))
    return {source.host_gigabytes, source.host_latency};
  // A copy between two devices is staged through host memory.
  return {1 / (1 / source.host_gigabytes + 1 / target.host_gigabytes),
          source.host_latency + target.host_latency};
}

double PlacementCostModel::operation(Operation *op, OnAttr device) const {
  if (measured)
    if (std::optional<double> known = measured(op, device))
      return *known;
  DeviceParameters figures = figuresOf(device);
  double microseconds = std::max(estimateFlops(op) / figures.gigaflops,
                                 estimateMemoryTraffic(op) / figures.gigabytes) *
                        1e-3;
  return microseconds + figures.launch;
}

double PlacementCostModel::transfer(double bytes, StringRef from, StringRef to) {
  LinkParameters link = linkOf(from, to);
  return link.latency + bytes / link.gigabytes * 1e-3;
}

} // namespace dlc

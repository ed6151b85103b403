//===- Cost.cpp - cost model of devices and of the links between them -----===//
#include "passes/place/Cost.h"

#include "ir/tensor/Tensor.h"
#include "passes/Devices.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace dlc {
namespace {

double elementsOf(Value value) {
  double count = 1;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int64_t dim : type.getShape())
      count *= ShapedType::isDynamic(dim) ? 1 : double(dim);
  return count;
}

double getStaticSize(Value value, int64_t dim) {
  auto type = typeOf(value);
  int64_t at = dim < 0 ? type.getRank() + dim : dim;
  if (at < 0 || at >= type.getRank() || type.isDynamicDim(unsigned(at)))
    return 1;
  return double(type.getDimSize(at));
}

double bodyFlops(Region &region) {
  double sum = 0;
  for (Block &block : region)
    for (Operation &op : block.without_terminator())
      sum += estimateFlops(&op);
  return sum;
}

double convAndPoolFlops(Operation *op) {
  // FLOPs of a convolution: each element of `many` is multiplied by every weight of its channel,
  // and a multiply-add counts as two FLOPs.
  auto product = [](Value many, Value weights, double outputs) {
    return 2 * elementsOf(many) * elementsOf(weights) / std::max(1.0, outputs);
  };
  if (auto conv = dyn_cast<ConvOp>(op))
    return product(conv.getResult(), conv.getW(), getStaticSize(conv.getW(), 0));
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return product(conv.getX(), conv.getW(), getStaticSize(conv.getW(), 0));
  if (auto gradient = dyn_cast<ConvWeightGradOp>(op))
    return product(gradient.getDy(), gradient.getDw(), getStaticSize(gradient.getDw(), 0));
  return 0;
}

} // namespace

int64_t tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  SmallVector<int64_t> shape(tensor.getShape());
  std::ranges::replace(shape, ShapedType::kDynamic, int64_t(1));
  return ref::storageBytes(tensor.clone(shape));
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
  if (double flops = convAndPoolFlops(op); flops > 0)
    return flops;
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](MatmulOp matmul) {
        return 2 * elementsOf(matmul.getResult()) *
               getStaticSize(matmul.getA(), matmul.getTransposeA() ? -2 : -1);
      })
      .Case([](GroupedMatmulOp product) {
        return 2 * elementsOf(product.getResult()) * getStaticSize(product.getA(), -1);
      })
      .Case([](GroupedWeightGradOp gradient) {
        return 2 * elementsOf(gradient.getDy()) * getStaticSize(gradient.getA(), -1);
      })
      .Case([](AttentionOp attention) {
        // FLOPs of attention, which has two matmuls: the scores, and the weighted sum of the
        // values.
        return 4 * elementsOf(attention->getResult(0)) *
               getStaticSize(attention->getOperand(1), -2);
      })
      .Case([](AttentionTrainOp attention) {
        return 4 * elementsOf(attention.getY()) * getStaticSize(attention.getK(), -2);
      })
      .Case([](AttentionGradOp attention) {
        // FLOPs of attention's gradient, which has five matmuls: the scores are recomputed, and
        // there are four gradient matmuls.
        return 10 * elementsOf(attention.getY()) * getStaticSize(attention.getK(), -2);
      })
      .Case([](LoopOp loop) {
        double trips = 1;
        if (loop.getTrip())
          trips = splatValue(loop.getTrip()).value_or(1);
        return std::max(1.0, trips) * bodyFlops(loop.getBody());
      })
      .Case([](IfOp branch) {
        return std::max(bodyFlops(branch.getThenRegion()), bodyFlops(branch.getElseRegion()));
      })
      .Case([](FusionOp fusion) { return bodyFlops(fusion.getBody()); })
      .Default([](Operation *other) {
        // Recurrent layers multiply each input row by the weights. All other operations count one
        // FLOP per element of their largest operand or result.
        double flops = 0;
        for (Value value : other->getOperands())
          flops = std::max(flops, elementsOf(value));
        for (Value value : other->getResults())
          flops = std::max(flops, elementsOf(value));
        if (isa<LstmOp, GruOp, RnnOp>(other) && other->getNumOperands() > 2) {
          double rows =
              getStaticSize(other->getOperand(0), 0) * getStaticSize(other->getOperand(0), 1);
          flops += 2 * rows * (elementsOf(other->getOperand(1)) + elementsOf(other->getOperand(2)));
        }
        return flops;
      });
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

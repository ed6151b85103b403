//===- DeviceLayouts.cpp - layouts supported by the kernels of each kind of device ----===//
#include "passes/layout/DeviceLayouts.h"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"

#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/layout/Alternatives.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {
namespace {

/// Layouts that kernels of libraries and dlc's own kernels support on CPUs.
class CpuLayouts : public DeviceLayouts {
public:
  explicit CpuLayouts(Costs &costs) : costs(costs) {}

  std::vector<std::string> preferred(Operation *product) override {
    std::optional<LayoutPair> free = costs.preferredLayouts(product, {});
    if (!free)
      return {};
    return {free->source, free->destination};
  }

  ArrayRef<const char *> ownTags(int64_t rank) const override {
    static constexpr const char *images[] = {"aBcd16b", "acdb"}, *sequences[] = {"aBc16b", "acb"};
    return rank == 4   ? ArrayRef(images)
           : rank == 3 ? ArrayRef(sequences)
                       : ArrayRef<const char *>();
  }

  std::vector<ConvLayouts> offers(Operation *product, ArrayRef<std::string> tags) override {
    std::vector<ConvLayouts> list;
    auto add = [&](const std::optional<LayoutPair> &preferred) {
      if (preferred)
        list.push_back({preferred->source, preferred->destination});
    };
    add(costs.preferredLayouts(product, {}));
    // Number of input channels that fill a block. The first convolution of a network often has
    // fewer channels and reads row-major images.
    constexpr int64_t kFew = 16;
    bool few = shapeOf(product->getOperand(0))[1] < kFew;
    for (const std::string &tag : tags)
      for (const std::string &source : {tag, std::string()})
        if (few || !source.empty())
          add(costs.preferredLayouts(product, {.required = LayoutPair{source, tag}}));
    // dlc's own kernels for convolutions with constant weights, and for weight gradients of
    // depthwise convolutions, also support layouts for which a library may have no kernel.
    bool isOfConstants = isa<ConvOp>(product) && product->getOperand(1).getDefiningOp<ConstantOp>();
    if (isOfConstants || (isa<ConvWeightGradOp>(product) && isDepthwise(product)))
      for (const char *tag : ownTags(typeOf(product->getOperand(0)).getRank()))
        list.push_back({tag, tag});
    return list;
  }

  bool pools(Operation *op, StringRef tag) override {
    std::optional<LayoutPair> preferred =
        costs.preferredLayouts(op, {.required = LayoutPair{tag.str(), tag.str()}});
    return preferred && preferred->source == tag && preferred->destination == tag;
  }

private:
  Costs &costs;
};

/// Layouts on GPUs: channels last for images and weights, the order in which vendor libraries for
/// tensor cores read them. Generated kernels, including pools, support any order of dimensions.
class GpuLayouts : public DeviceLayouts {
public:
  std::vector<std::string> preferred(Operation *product) override {
    if (!isForTensorCores(product))
      return {};
    return {getChannelsLastTag(typeOf(product->getOperand(0)).getRank()).str()};
  }

  ArrayRef<const char *> ownTags(int64_t) const override { return {}; }

  std::vector<ConvLayouts> offers(Operation *product, ArrayRef<std::string>) override {
    std::vector<ConvLayouts> list;
    for (const std::string &tag : preferred(product)) {
      RankedTensorType weights =
          typeOf(isa<ConvWeightGradOp>(product) ? product->getResult(0) : product->getOperand(1));
      list.push_back({tag, tag, isSameInMemory(weights, withLayout(weights, tag)) ? "" : tag});
    }
    return list;
  }

  bool pools(Operation *, StringRef) override { return true; }

private:
  /// Returns whether tensor cores can compute the convolution: in 16-bit floats, in 8-bit integers,
  /// or in tf32 if that is permitted.
  static bool isForTensorCores(Operation *product) {
    RankedTensorType x = typeOf(product->getOperand(0));
    Type element = x.getElementType();
    auto isFilled = [](Value value) {
      return typeOf(value).hasStaticShape() && staticElements(typeOf(value)) > 0;
    };
    return llvm::all_of(llvm::concat<Value>(product->getOperands(), product->getResults()),
                        isFilled) &&
           x.getRank() >= 3 && x.getRank() <= 5 &&
           (element.isF16() || element.isBF16() ||
            (isa<ConvOp>(product) && isIntegerContraction(product)) ||
            (element.isF32() && product->hasAttr(kMathAttr)));
  }
};

} // namespace

DeviceLayoutsRegistry::DeviceLayoutsRegistry(Costs &costs) {
  rows.push_back({DLC_DEVICE_HOST_CODE, std::make_unique<CpuLayouts>(costs)});
  rows.push_back({DLC_DEVICE_GPU_CODE, std::make_unique<GpuLayouts>()});
}

DeviceLayouts *DeviceLayoutsRegistry::of(OnAttr device) const {
  for (const Row &row : rows)
    if (can(device, row.capability))
      return row.layouts.get();
  return nullptr;
}

DeviceLayouts *DeviceLayoutsRegistry::of(Operation *op) const {
  return op->getNumResults() ? of(deviceOf(op->getResult(0).getType())) : nullptr;
}

} // namespace dlc

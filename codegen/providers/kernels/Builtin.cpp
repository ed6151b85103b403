//===- Builtin.cpp - operations implemented by the runtime's own kernels ---===//
#include "codegen/providers/Provider.h"
#include "codegen/providers/kernels/Grouped.h"
#include "ir/dlc/Matchers.h"
#include "passes/layout/Alternatives.h"
#include "passes/layout/Tag.h"
#include "runtime/device/cpu/Features.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using nlohmann::json;

namespace dlc {

namespace {

json getDims(RankedTensorType type) {
  return std::vector<int64_t>(type.getShape().begin(), type.getShape().end());
}

/// Adds the number of elements before the axis (outer), along it (len) and after it (inner) to the
/// description.
void addAxisSizes(json &desc, RankedTensorType type, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : type.getDimSize(d);
  desc["outer"] = outer;
  desc["len"] = type.getDimSize(axis);
  desc["inner"] = inner;
}

/// Converts dilations to oneDNN's convention, in which 0 means adjacent elements.
std::vector<int64_t> getDilationGaps(ArrayRef<int64_t> dilations) {
  auto result = list(dilations);
  for (int64_t &d : result)
    --d;
  return result;
}

/// Describes a sliding window over `src`, [N, C, spatial..], with result `dst`.
template <typename Op>
json describeWindowOp(const char *kind, Op op, std::vector<int64_t> src, RankedTensorType dst) {
  return json{{"kind", kind},
              {"src", src},
              {"dst", getDims(dst)},
              {"kernel", list(op.getWindow())},
              {"strides", list(op.getStrides())},
              {"dilations", getDilationGaps(op.getDilations())},
              {"pads_l", list(op.getLow())}};
}

/// Describes a sliding window for the channel-vector kernels. 1-D sequences are described as 2-D
/// images with one row.
template <typename Op>
json describeLaneWindowOp(const char *kind, Op op, RankedTensorType src, RankedTensorType dst) {
  json desc = describeWindowOp(kind, op, getDims(src), dst);
  if (src.getRank() == 4)
    return desc;
  for (auto [key, place, value] : {std::tuple("src", 2, 1),
                                   {"dst", 2, 1},
                                   {"kernel", 0, 1},
                                   {"strides", 0, 1},
                                   {"dilations", 0, 0},
                                   {"pads_l", 0, 0}})
    desc[key].insert(desc[key].begin() + place, value);
  return desc;
}

json describeBuiltinOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<TopKOp>([](TopKOp o) {
        json desc{{"kind", "topk"},
                  {"k", o.getK()},
                  {"largest", o.getLargest()},
                  {"sorted", o.getSorted()}};
        addAxisSizes(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<NmsOp>([](NmsOp o) {
        ArrayRef<int64_t> rows = typeOf(o.getScores()).getShape();
        return json{
            {"kind", "nms"},    {"overlap", elementName(typeOf(o.getOverlap()).getElementType())},
            {"batch", rows[0]}, {"classes", rows[1]},
            {"boxes", rows[2]}, {"k", o.getK()}};
      })
      .Case<ArgReduceOp>([](ArgReduceOp o) {
        json desc{{"kind", "arg_reduce"},
                  {"op", o.getKind() == ReduceKind::max ? "max" : "min"},
                  {"select_last", o.getLast()}};
        addAxisSizes(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<CumulativeOp>([](CumulativeOp o) {
        json desc{{"kind", "cumulative"},
                  {"op", o.getKind() == ReduceKind::sum ? "sum" : "prod"},
                  {"exclusive", o.getExclusive()},
                  {"reverse", o.getReverse()}};
        addAxisSizes(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<ScatterElementsOp>([](ScatterElementsOp o) {
        return json{{"kind", "scatter_elements"},
                    {"axis", o.getAxis()},
                    {"index", elementName(typeOf(o.getIndices()).getElementType())},
                    {"data", getDims(typeOf(o.getX()))},
                    {"indices", getDims(typeOf(o.getIndices()))},
                    {"reduction", stringifyScatterReduction(o.getReduction()).str()}};
      })
      .Case<ScatterNdOp>([](ScatterNdOp o) {
        return json{{"kind", "scatter_nd"},
                    {"index", elementName(typeOf(o.getIndices()).getElementType())},
                    {"data", getDims(typeOf(o.getX()))},
                    {"indices", getDims(typeOf(o.getIndices()))},
                    {"reduction", stringifyScatterReduction(o.getReduction()).str()}};
      })
      .Case<MaxPoolIndicesOp>([](MaxPoolIndicesOp o) {
        json desc =
            describeWindowOp("max_pool_indices", o, getDims(typeOf(o.getX())), typeOf(o.getY()));
        desc["storage_order"] = o.getColumnMajor() ? 1 : 0;
        return desc;
      })
      .Case<MaxPoolPositionsOp>([](MaxPoolPositionsOp o) {
        return describeWindowOp("max_pool_positions", o, getDims(typeOf(o.getX())),
                                typeOf(o.getY()));
      })
      .Case<MaxPoolGradOp>([](MaxPoolGradOp o) {
        return describeWindowOp("max_pool_grad", o, getDims(typeOf(o.getDx())), typeOf(o.getDy()));
      })
      .Case<AvgPoolGradOp>([](AvgPoolGradOp o) {
        json desc =
            describeWindowOp("avg_pool_grad", o, getDims(typeOf(o.getDx())), typeOf(o.getDy()));
        desc["include_pad"] = o.getIncludePad();
        desc["pads_counted"] = list(o.getCountedHigh());
        return desc;
      })
      .Case<ConvWeightGradOp>([](ConvWeightGradOp o) {
        json desc =
            describeWindowOp("conv_weight_grad", o, getDims(typeOf(o.getX())), typeOf(o.getDy()));
        desc["groups"] = o.getGroups();
        return desc;
      })
      .Case<RandomOp>([](RandomOp o) {
        return json{{"kind", "random"},
                    {"op", stringifyRandomKind(o.getKind()).str()},
                    {"count", typeOf(o.getY()).getNumElements()},
                    {"seed", o.getSeed()},
                    {"counter", "buffer"}};
      })
      .Default([](Operation *) { return json(); });
}

/// Returns the cast to f32 of a weight gradient's result; null if there is none. The kernel then
/// stores its f32 sums without rounding them.
CastOp findWideningCast(Operation *op) {
  auto wide = dyn_cast_or_null<CastOp>(isa<ConvWeightGradOp>(op) ? op->getNextNode() : nullptr);
  return wide && wide.getX() == op->getResult(0) && typeOf(wide.getY()).getElementType().isF32()
             ? wide
             : CastOp();
}

/// Returns the only operation of a fusion if it can be a built-in kernel and has only row-major
/// tensors; otherwise null.
Operation *findSingleOperation(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  Operation *op = &body.front(), *last = findWideningCast(op) ? op->getNextNode() : op;
  if (!op->hasTrait<StandaloneOp>() || last->getNextNode() != body.getTerminator())
    return nullptr;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!layoutOf(type).empty())
      return nullptr;
  return op;
}

/// Number of channels that are contiguous in the images' common layout: the block size, or all
/// channels if they are the last dimension. 0 if the layouts differ or channels are not contiguous.
int64_t countContiguousChannels(ArrayRef<Value> images) {
  StringRef tag = layoutOf(images.front().getType());
  auto parsed = Tag::parse(tag);
  for (Value image : images)
    if (layoutOf(image.getType()) != tag)
      return 0;
  RankedTensorType type = typeOf(images.front());
  if (!parsed || type.getRank() < 3 || type.getRank() > 4)
    return 0;
  int64_t channels = type.getDimSize(1);
  auto order = llvm::to_vector(llvm::seq(type.getRank()));
  bool isBlocked = parsed->blockedDim == 1 && parsed->order == order;
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  bool isLast = parsed->blockedDim < 0 && parsed->order == order;
  if (isBlocked)
    return channels % parsed->block == 0 ? parsed->block : 0;
  return isLast ? channels : 0;
}

/// Describes the weight gradient of a depthwise convolution for the kernel with one channel per
/// vector lane.
json describeLaneWeightGrad(FusionOp fusion) {
  auto op = dyn_cast<ConvWeightGradOp>(fusion.getBody().front().front());
  if (!op || op->getNextNode() != fusion.getBody().front().getTerminator() ||
      runtime::hostLanes() == 0 || !layoutOf(op.getDw().getType()).empty() ||
      !typeOf(op.getDy()).getElementType().isF32())
    return {};
  int64_t group = countContiguousChannels({op.getX(), op.getDy()});
  if (group < 8 || !isDepthwise(op))
    return {};
  json desc = describeLaneWindowOp("lane_weight_grad", op, typeOf(op.getX()), typeOf(op.getDy()));
  desc["group"] = group;
  return desc;
}

/// Describes a pool for the kernel with one channel per vector lane, if enough channels are
/// contiguous. Supports f32, and max pooling of 8-bit integers.
json describeLanePool(FusionOp fusion) {
  Operation *op = &fusion.getBody().front().front();
  if (!op->hasTrait<Pooling>() || op->getNextNode() != fusion.getBody().front().getTerminator() ||
      runtime::hostLanes() == 0)
    return {};
  SmallVector<Value> images(op->getOperands());
  llvm::append_range(images, op->getResults());
  int64_t group = countContiguousChannels(images);
  bool isBytes = isa<MaxPoolOp>(op) && isInt8(op->getOperand(0).getType());
  if (group < 8 || group % 8 != 0 ||
      (!isBytes && !typeOf(op->getResult(0)).getElementType().isF32()))
    return {};
  auto described = [&](const char *name, auto o, Value src, Value dst) {
    json desc = describeLaneWindowOp("lane_pool", o, typeOf(src), typeOf(dst));
    desc["op"] = name;
    desc["group"] = group;
    int64_t taps = 1;
    for (auto [low, high, size] : llvm::zip(o.getLow(), o.getHigh(), o.getWindow())) {
      if (low >= size || high >= size)
        return json(); // such a window may be entirely in the padding
      taps *= size;
    }
    return taps <= 256 ? desc : json();
  };
  auto counted = [](json desc, auto o) {
    if (!desc.is_null()) {
      desc["include_pad"] = o.getIncludePad();
      desc["pads_counted"] = list(o.getCountedHigh());
      if (o.getCountedHigh().size() == 1)
        desc["pads_counted"].insert(desc["pads_counted"].begin(), 0);
    }
    return desc;
  };
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<MaxPoolOp, MaxPoolPositionsOp>(
          [&](auto o) { return described("max", o, o.getX(), o.getY()); })
      .Case<MaxPoolGradOp>([&](auto o) { return described("max_grad", o, o.getDx(), o.getDy()); })
      .Case<AvgPoolOp>(
          [&](auto o) { return counted(described("average", o, o.getX(), o.getY()), o); })
      .Case<AvgPoolGradOp>(
          [&](auto o) { return counted(described("average_grad", o, o.getDx(), o.getDy()), o); });
}

/// Returns the buffer for a result of `inner`: the result of `whole` that yields it, or scratch
/// memory if it is unused.
CallArgument makeResultArgument(Operation *whole, OpResult inner) {
  CallArgument argument{CallArgument::Kind::Result};
  argument.result = inner.getResultNumber();
  if (whole == inner.getOwner())
    return argument;
  CastOp wide = findWideningCast(inner.getOwner());
  for (OpOperand &yielded : whole->getRegion(0).front().getTerminator()->getOpOperands())
    if (yielded.get() == inner || (wide && yielded.get() == wide.getY())) {
      argument.result = yielded.getOperandNumber();
      return argument;
    }
  argument.kind = CallArgument::Kind::Scratch;
  argument.bytes = storageBytes(typeOf(inner));
  return argument;
}

/// Returns true if a scatter updates a constant tensor of zeros. The kernel then zero-fills its
/// result itself.
bool scattersIntoZeros(Operation *op, FusionOp fusion) {
  if (!isa<ScatterElementsOp, ScatterNdOp>(op))
    return false;
  Value into = op->getOperand(0);
  if (fusion)
    into = fusion.getInputs()[cast<BlockArgument>(into).getArgNumber()];
  double number = 1;
  return into.getDefiningOp<ConstantOp>() && isSplat(into, number) && number == 0 &&
         !std::signbit(number);
}

std::optional<LibraryCall> describeBuiltinCall(Operation *whole) {
  auto fusion = dyn_cast<FusionOp>(whole);
  json desc = fusion ? describeLanePool(fusion) : json();
  if (fusion && desc.is_null())
    desc = describeLaneWeightGrad(fusion);
  Operation *op = !fusion          ? whole
                  : desc.is_null() ? findSingleOperation(fusion)
                                   : &fusion.getBody().front().front();
  if (!op)
    return std::nullopt;
  if (desc.is_null())
    desc = describeBuiltinOp(op);
  if (desc.is_null())
    return std::nullopt;
  LibraryCall call;
  call.library = "builtin";
  call.implementation = "builtin:" + desc["kind"].get<std::string>();
  // The call's element type is that of the first operand; RandomOp has none, so its result's type
  // is used.
  Value decides = isa<RandomOp>(op) ? op->getResult(0) : op->getOperand(0);
  desc["dtype"] = elementName(typeOf(decides).getElementType());
  if (fusion && findWideningCast(op))
    desc["wide"] = 1;
  const bool makesZeros = scattersIntoZeros(op, fusion);
  if (makesZeros)
    desc["zeros"] = 1;
  call.desc = desc;
  for (Value operand : op->getOperands().drop_front(makesZeros)) {
    Value outer =
        fusion ? fusion.getInputs()[cast<BlockArgument>(operand).getArgNumber()] : operand;
    call.arguments.push_back({CallArgument::Kind::Value, outer});
    call.bytes += double(storageBytes(typeOf(operand)));
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    call.arguments.push_back(makeResultArgument(whole, op->getResult(i)));
    call.bytes += double(storageBytes(typeOf(op->getResult(i))));
  }
  if (isa<CumulativeOp, ScatterElementsOp, ScatterNdOp>(op) && !makesZeros)
    call.inplace.push_back({op->getNumOperands(), 0});
  call.flops = double(typeOf(decides).getNumElements());
  if (desc.contains("kernel")) {
    // The cost is the number of window elements of all results, as for oneDNN's pools.
    call.flops = 1;
    for (const char *list : {"dst", "kernel"})
      for (int64_t size : desc[list].get<std::vector<int64_t>>())
        call.flops *= double(size);
  }
  if (isa<MaxPoolOp, AvgPoolOp>(op))
    call.flops = countNonPaddingTaps(op);
  if (auto nms = dyn_cast<NmsOp>(
          op)) // only few boxes are compared with all selected boxes, so the cost is linear
    call.flops = double(typeOf(nms.getScores()).getNumElements());
  if (auto gradient = dyn_cast<ConvWeightGradOp>(op)) {
    auto dw = typeOf(gradient.getDw());
    call.flops = 2.0 * double(typeOf(gradient.getDy()).getNumElements()) *
                 double(dw.getNumElements()) / double(std::max<int64_t>(1, dw.getDimSize(0)));
  }
  return call;
}

class BuiltinProvider : public CallProvider {
public:
  BuiltinProvider()
      : CallProvider({.name = "builtin", .description = "what only the runtime's own kernels do"}) {
  }

  SmallVector<int64_t> variants(CandidateCollector &) const override { return {0}; }
  std::optional<LibraryCall> make(Operation *op, int64_t, int, std::string *why) const override {
    if (!isGrouped(op))
      return describeBuiltinCall(op);
    bool isGradient = isa<GroupedWeightGradOp>(op);
    return groupedProduct(
        op,
        {.library = "builtin",
         .implementation = isGradient ? "builtin:grouped_gradient" : "builtin:grouped_product"},
        /*config=*/nullptr, Refusal{why});
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    double cores = cost.coresFor(call.flops + call.bytes);
    double nanoseconds = cost.traffic(call.bytes, cores);
    StringRef kind = call.desc["kind"].get_ref<const std::string &>();
    // An 8-bit vector holds four times as many elements as an f32 vector.
    bool isBytes = kind == "lane_pool" && call.desc["dtype"] != "f32";
    double rate = isBytes                      ? 4 * machine.lanePoolTaps
                  : kind == "lane_pool"        ? machine.lanePoolTaps
                  : kind == "lane_weight_grad" ? machine.laneGradients
                  : call.desc.contains("kernel") || call.desc.contains("groups")
                      ? machine.builtinWindows
                      : machine.convolutionGflops;
    nanoseconds = std::max(nanoseconds, call.flops / (rate * cores));
    return cost.ended(call, nanoseconds);
  }
};

} // namespace

const Provider &provide::builtin() {
  static const BuiltinProvider provider;
  return provider;
}

} // namespace dlc

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

std::vector<int64_t> getDims(Value value) { return list(typeOf(value).getShape()); }

DType dtypeOf(Value value) { return *parseDType(elementName(typeOf(value).getElementType())); }

/// Sets the number of elements before the axis (outer), along it (len) and after it (inner).
void setAxisSizes(schema::AxisCall &fields, RankedTensorType type, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : type.getDimSize(d);
  fields.outer = outer;
  fields.len = type.getDimSize(axis);
  fields.inner = inner;
}

/// Converts dilations to oneDNN's convention, in which 0 means adjacent elements.
std::vector<int64_t> getDilationGaps(ArrayRef<int64_t> dilations) {
  auto result = list(dilations);
  for (int64_t &d : result)
    --d;
  return result;
}

/// Describes a sliding window over `src`, [N, C, spatial..], with result `dst`.
template <typename Record, typename Op> Record describeWindowOp(Op op, Value src, Value dst) {
  Record fields;
  fields.src = getDims(src);
  fields.dst = getDims(dst);
  fields.kernel = list(op.getWindow());
  fields.strides = list(op.getStrides());
  fields.dilations = getDilationGaps(op.getDilations());
  fields.low = list(op.getLow());
  return fields;
}

/// Describes a sliding window for the channel-vector kernels. 1-D sequences are described as 2-D
/// images with one row.
template <typename Record, typename Op> Record describeLaneWindowOp(Op op, Value src, Value dst) {
  auto fields = describeWindowOp<Record>(op, src, dst);
  if (typeOf(src).getRank() == 4)
    return fields;
  for (schema::Sizes *sizes : {&fields.src, &fields.dst})
    sizes->insert(sizes->begin() + 2, 1);
  for (auto [values, value] : {std::pair(&fields.kernel, 1),
                               {&fields.strides, 1},
                               {&fields.dilations, 0},
                               {&fields.low, 0}})
    values->insert(values->begin(), value);
  return fields;
}

/// Sets the kind and the type of the elements, and returns the text form.
template <typename Record> json finish(Record fields, schema::BuiltinKind kind, DType dtype) {
  fields.kind = kind;
  fields.dtype = dtype;
  return fields.toJson();
}

template <typename Record, typename Op> Record describeScatter(Op op, bool zeros) {
  Record fields;
  fields.index = dtypeOf(op.getIndices());
  fields.data = getDims(op.getX());
  fields.indices = getDims(op.getIndices());
  fields.reduction = static_cast<schema::ScatterReduction>(op.getReduction());
  fields.zeros = zeros;
  return fields;
}

json describeAxisOp(Operation *op) {
  using Kind = schema::BuiltinKind;
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<TopKOp>([](TopKOp o) {
        schema::TopK fields;
        fields.k = o.getK();
        fields.largest = o.getLargest();
        fields.sorted = o.getSorted();
        setAxisSizes(fields, typeOf(o.getX()), o.getAxis());
        return finish(fields, Kind::TopK, dtypeOf(o.getX()));
      })
      .Case<ArgReduceOp>([](ArgReduceOp o) {
        schema::ArgReduce fields;
        fields.op = o.getKind() == ReduceKind::max ? schema::Extreme::Max : schema::Extreme::Min;
        fields.selectLast = o.getLast();
        setAxisSizes(fields, typeOf(o.getX()), o.getAxis());
        return finish(fields, Kind::ArgReduce, dtypeOf(o.getX()));
      })
      .Case<CumulativeOp>([](CumulativeOp o) {
        schema::Cumulative fields;
        fields.op = o.getKind() == ReduceKind::sum ? schema::Accumulation::Sum
                                                   : schema::Accumulation::Product;
        fields.exclusive = o.getExclusive();
        fields.reverse = o.getReverse();
        setAxisSizes(fields, typeOf(o.getX()), o.getAxis());
        return finish(fields, Kind::Cumulative, dtypeOf(o.getX()));
      })
      .Default([](Operation *) { return json(); });
}

/// `wide`: the gradient of a convolution's weights is stored as f32.
json describeBuiltinWindow(Operation *op, bool wide) {
  using Kind = schema::BuiltinKind;
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<MaxPoolIndicesOp>([](MaxPoolIndicesOp o) {
        auto fields = describeWindowOp<schema::MaxPoolIndices>(o, o.getX(), o.getY());
        fields.storageOrder = o.getColumnMajor();
        return finish(fields, Kind::MaxPoolIndices, dtypeOf(o.getX()));
      })
      .Case<MaxPoolPositionsOp>([](MaxPoolPositionsOp o) {
        return finish(describeWindowOp<schema::PoolCall>(o, o.getX(), o.getY()),
                      Kind::MaxPoolPositions, dtypeOf(o.getX()));
      })
      .Case<MaxPoolGradOp>([](MaxPoolGradOp o) {
        return finish(describeWindowOp<schema::PoolCall>(o, o.getDx(), o.getDy()),
                      Kind::MaxPoolGrad, dtypeOf(o->getOperand(0)));
      })
      .Case<AvgPoolGradOp>([](AvgPoolGradOp o) {
        auto fields = describeWindowOp<schema::AvgPoolGrad>(o, o.getDx(), o.getDy());
        fields.includePad = o.getIncludePad();
        fields.padsCounted = list(o.getCountedHigh());
        return finish(fields, Kind::AvgPoolGrad, dtypeOf(o->getOperand(0)));
      })
      .Case<ConvWeightGradOp>([&](ConvWeightGradOp o) {
        auto fields = describeWindowOp<schema::ConvWeightGrad>(o, o.getX(), o.getDy());
        fields.groups = o.getGroups();
        fields.wide = wide;
        return finish(fields, Kind::ConvWeightGrad, dtypeOf(o->getOperand(0)));
      })
      .Default([](Operation *) { return json(); });
}

/// Describes an operation. `zeros`: a scatter updates a tensor of zeros. `wide`: the gradient of a
/// convolution's weights is stored as f32. Returns null for other operations.
json describeBuiltinOp(Operation *op, bool zeros, bool wide) {
  using Kind = schema::BuiltinKind;
  if (json desc = describeAxisOp(op); !desc.is_null())
    return desc;
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<NmsOp>([](NmsOp o) {
        ArrayRef<int64_t> rows = typeOf(o.getScores()).getShape();
        schema::Nms fields;
        fields.overlap = dtypeOf(o.getOverlap());
        fields.batch = rows[0], fields.classes = rows[1], fields.boxes = rows[2];
        fields.k = o.getK();
        return finish(fields, Kind::Nms, dtypeOf(o->getOperand(0)));
      })
      .Case<ScatterElementsOp>([&](ScatterElementsOp o) {
        auto fields = describeScatter<schema::ScatterElements>(o, zeros);
        fields.axis = o.getAxis();
        return finish(fields, Kind::ScatterElements, dtypeOf(o.getX()));
      })
      .Case<ScatterNdOp>([&](ScatterNdOp o) {
        return finish(describeScatter<schema::ScatterNd>(o, zeros), Kind::ScatterNd,
                      dtypeOf(o.getX()));
      })
      .Case<RandomOp>([](RandomOp o) {
        schema::Random fields;
        fields.op = static_cast<schema::Distribution>(o.getKind());
        fields.count = typeOf(o.getY()).getNumElements();
        fields.seed = int64_t(o.getSeed());
        fields.counter = schema::OrBuffer<int64_t>::buffer();
        return finish(fields, Kind::Random, dtypeOf(o.getY()));
      })
      .Default([&](Operation *other) { return describeBuiltinWindow(other, wide); });
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
      !layoutOf(op.getDw().getType()).empty() || !typeOf(op.getDy()).getElementType().isF32())
    return {};
  int64_t group = countContiguousChannels({op.getX(), op.getDy()});
  if (group < 8 || !isDepthwise(op))
    return {};
  auto fields = describeLaneWindowOp<schema::LaneWeightGrad>(op, op.getX(), op.getDy());
  fields.group = group;
  return finish(fields, schema::BuiltinKind::LaneWeightGrad, dtypeOf(op->getOperand(0)));
}

/// Describes a pool for the kernel with one channel per vector lane, if enough channels are
/// contiguous. Supports f32, and max pooling of 8-bit integers.
json describeLanePool(FusionOp fusion) {
  Operation *op = &fusion.getBody().front().front();
  if (!op->hasTrait<Pooling>() || op->getNextNode() != fusion.getBody().front().getTerminator())
    return {};
  SmallVector<Value> images(op->getOperands());
  llvm::append_range(images, op->getResults());
  int64_t group = countContiguousChannels(images);
  bool isBytes = isa<MaxPoolOp>(op) && isInt8(op->getOperand(0).getType());
  if (group < 8 || group % 8 != 0 ||
      (!isBytes && !typeOf(op->getResult(0)).getElementType().isF32()))
    return {};
  using Op = schema::LanePoolOp;
  auto described = [&](Op name, auto o, Value src, Value dst) {
    auto fields = describeLaneWindowOp<schema::LanePool>(o, src, dst);
    fields.op = name;
    fields.group = group;
    if constexpr (requires { o.getCountedHigh(); }) {
      fields.includePad = o.getIncludePad();
      fields.padsCounted = list(o.getCountedHigh());
      if (fields.padsCounted.size() == 1)
        fields.padsCounted.insert(fields.padsCounted.begin(), 0);
    }
    int64_t taps = 1;
    for (auto [low, high, size] : llvm::zip(o.getLow(), o.getHigh(), o.getWindow())) {
      // If the padding is as wide as the window, a window may be entirely in the padding, which the
      // kernel does not support.
      if (low >= size || high >= size)
        return json();
      taps *= size;
    }
    return taps <= 256 ? finish(fields, schema::BuiltinKind::LanePool, dtypeOf(op->getOperand(0)))
                       : json();
  };
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<MaxPoolOp, MaxPoolPositionsOp>(
          [&](auto o) { return described(Op::Max, o, o.getX(), o.getY()); })
      .Case<MaxPoolGradOp>([&](auto o) { return described(Op::MaxGrad, o, o.getDx(), o.getDy()); })
      .Case<AvgPoolOp>([&](auto o) { return described(Op::Average, o, o.getX(), o.getY()); })
      .Case<AvgPoolGradOp>(
          [&](auto o) { return described(Op::AverageGrad, o, o.getDx(), o.getDy()); });
}

/// Returns true if the kernel has a sliding window.
bool hasWindow(schema::BuiltinKind kind) {
  using Kind = schema::BuiltinKind;
  return llvm::is_contained({Kind::MaxPoolIndices, Kind::MaxPoolPositions, Kind::MaxPoolGrad,
                             Kind::AvgPoolGrad, Kind::LanePool, Kind::LaneWeightGrad,
                             Kind::ConvWeightGrad},
                            kind);
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
  const bool makesZeros = scattersIntoZeros(op, fusion);
  if (desc.is_null())
    desc = describeBuiltinOp(op, makesZeros, fusion && findWideningCast(op));
  if (desc.is_null())
    return std::nullopt;
  LibraryCall call;
  call.library = "builtin";
  const auto kind = schema::BuiltinCall::read(desc, call.library).kind;
  call.implementation = std::string("builtin:") + nameOf(kind);
  Value decides = isa<RandomOp>(op) ? op->getResult(0) : op->getOperand(0);
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
  if (hasWindow(kind)) {
    // The cost is the number of window elements of all results, as for oneDNN's pools.
    const auto window = schema::ImageWindowFields::read(desc, call.library);
    call.flops = multiplySizes(std::vector<int64_t>(window.dst)) * multiplySizes(window.kernel);
  }
  if (isa<MaxPoolOp, AvgPoolOp>(op))
    call.flops = countNonPaddingTaps(op);
  // Non-maximum suppression compares only few boxes with all selected boxes, so that its cost is
  // linear in the number of scores.
  if (auto nms = dyn_cast<NmsOp>(op))
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
    using Kind = schema::BuiltinKind;
    const auto fields = schema::TypedBuiltinCall::read(call.desc, call.library);
    const Kind kind = fields.kind;
    // An 8-bit vector holds four times as many elements as an f32 vector.
    bool isBytes = kind == Kind::LanePool && fields.dtype != DType::F32;
    bool isGrouped = kind == Kind::GroupedProduct || kind == Kind::GroupedGradient;
    double rate = isBytes                        ? 4 * machine.lanePoolTaps
                  : kind == Kind::LanePool       ? machine.lanePoolTaps
                  : kind == Kind::LaneWeightGrad ? machine.laneGradients
                  : hasWindow(kind) || isGrouped ? machine.builtinWindows
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

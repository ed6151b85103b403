//===- Training.cpp - operations of training as oneDNN calls --------------===//
#include "codegen/providers/onednn/Describe.h"
#include "ir/dlc/Attributes.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

/// Operation for which oneDNN is queried: `op` is outside of fusions, or the only operation of the
/// fusion `outer`.
struct SingleOperation {
  Operation *outer, *op;
  Value wide = {}; ///< f32 value to which the operation's result is cast

  static std::optional<SingleOperation> of(Operation *outer) {
    auto fusion = dyn_cast<FusionOp>(outer);
    if (!fusion)
      return SingleOperation{outer, outer};
    auto &body = fusion.getBody().front();
    auto size = std::distance(body.begin(), body.end());
    // A weight gradient may be followed by a cast to f32: its sums are then returned before they
    // are rounded.
    auto widening = dyn_cast_or_null<CastOp>(
        isa<ConvWeightGradOp>(body.front()) ? body.front().getNextNode() : nullptr);
    if (size == 3 && widening && widening.getX() == body.front().getResult(0) &&
        typeOf(widening.getY()).getElementType().isF32())
      return SingleOperation{outer, &body.front(), widening.getY()};
    if (size != 2)
      return std::nullopt;
    return SingleOperation{outer, &body.front()};
  }

  Value operand(Value inner) const {
    auto fusion = dyn_cast<FusionOp>(outer);
    return fusion ? getOuterValue(fusion, inner) : inner;
  }

  /// Returns the index of the outer operation's result that has the value `inner`; std::nullopt if
  /// the fusion does not yield it.
  std::optional<unsigned> result(Value inner) const {
    auto fusion = dyn_cast<FusionOp>(outer);
    if (!fusion)
      return cast<OpResult>(inner).getResultNumber();
    for (OpOperand &yielded : fusion.getBody().front().getTerminator()->getOpOperands())
      if (yielded.get() == inner || (wide && yielded.get() == wide))
        return yielded.getOperandNumber();
    return std::nullopt;
  }
};

struct TrainingCallBuilder {
  using Kind = schema::OnednnKind;

  SingleOperation single;
  const OnednnQuery &query;
  PendingCall call = {};
  schema::OnednnArguments &arguments = call.desc.arguments;

  std::nullopt_t refuse(const char *reason) { return query.refuse(reason); }

  void reads(const char *name, schema::Maybe<schema::Layout> &argument, Value inner) {
    argument = describeArgument(inner);
    call.sources.push_back({name, {CallArgument::Kind::Value, single.operand(inner)}});
  }

  bool writes(const char *name, schema::Maybe<schema::Layout> &argument, Value inner) {
    auto index = single.result(inner);
    if (!index)
      return false;
    if (!argument)
      argument = describeArgument(inner);
    CallArgument result{CallArgument::Kind::Result};
    result.result = *index;
    call.sources.push_back({name, result});
    return true;
  }

  std::optional<QueryResult> weightGradient(ConvWeightGradOp op) {
    call.desc.call.kind = Kind::ConvolutionBackwardWeights;
    reads("src", arguments.src, op.getX());
    reads("diff_dst", arguments.diffDst, op.getDy());
    auto type = typeOf(single.wide ? single.wide : op.getDw());
    SmallVector<int64_t> dims(type.getShape());
    if (int64_t groups = op.getGroups(); groups > 1) {
      dims[0] /= groups;
      dims.insert(dims.begin(), groups);
    }
    if (layoutOf(type).empty())
      arguments.diffWeights =
          describeRepackedWeights(dims, type.getElementType(), plainTag(dims.size()));
    else if (op.getGroups() > 1)
      return refuse("the weights have a layout that oneDNN does not support for this operation");
    else
      arguments.diffWeights = describeArgument(dims, type.getElementType(), layoutOf(type));
    setWindow(call.desc.parameters.emplace<schema::OnednnConvolution>(), op);
    // Each element of dy is multiplied with the weights of one output channel.
    call.flops = 2.0 * double(typeOf(op.getDy()).getNumElements()) * double(type.getNumElements()) /
                 double(type.getDimSize(0));
    if (!writes("diff_weights", arguments.diffWeights, op.getDw()))
      return refuse("the fusion does not return the result of the operation");
    return completeCall(std::move(call), query);
  }

  template <typename Op>
  bool poolOf(Kind kind, Op op, Value pooled, schema::PoolAlgorithm algorithm) {
    call.desc.call.kind = kind;
    call.flops = double(typeOf(pooled).getNumElements());
    for (int64_t size : op.getWindow())
      call.flops *= double(size);
    auto &pool = call.desc.parameters.emplace<schema::OnednnPool>();
    pool.alg = algorithm;
    return setPoolWindow(pool, op);
  }

  std::optional<QueryResult> maxPool(MaxPoolPositionsOp op) {
    if (!poolOf(Kind::Pooling, op, op.getY(), schema::PoolAlgorithm::Max))
      return refuse("the padding is at least as large as the window");
    reads("src", arguments.src, op.getX());
    if (!writes("dst", arguments.dst, op.getY()) ||
        !writes("workspace", arguments.workspace, op.getPosition()))
      return refuse("the fusion does not return all results of the operation");
    return completeCall(std::move(call), query);
  }

  std::optional<QueryResult> maxPoolGradient(MaxPoolGradOp op) {
    if (!poolOf(Kind::PoolingBackward, op, op.getDy(), schema::PoolAlgorithm::Max))
      return refuse("the padding is at least as large as the window");
    reads("diff_dst", arguments.diffDst, op.getDy());
    reads("workspace", arguments.workspace, op.getPosition());
    if (!writes("diff_src", arguments.diffSrc, op.getDx()))
      return refuse("the fusion does not return the result of the operation");
    return completeCall(std::move(call), query);
  }

  std::optional<QueryResult> averagePoolGradient(AvgPoolGradOp op) {
    auto algorithm = getAvgPoolAlgorithm(op);
    if (!algorithm)
      return refuse("count_include_pad covers only a part of the padding");
    if (!poolOf(Kind::PoolingBackward, op, op.getDy(), *algorithm))
      return refuse("the padding is at least as large as the window");
    reads("diff_dst", arguments.diffDst, op.getDy());
    if (!writes("diff_src", arguments.diffSrc, op.getDx()))
      return refuse("the fusion does not return the result of the operation");
    return completeCall(std::move(call), query);
  }
};

} // namespace

std::optional<QueryResult> queryTraining(Operation *op, const OnednnQuery &query) {
  auto single = SingleOperation::of(op);
  if (!single || !single->op->hasTrait<StandaloneOp>())
    return std::nullopt;
  TrainingCallBuilder t{*single, query};
  t.call.op = op;
  Type element = typeOf(single->op->getResult(0)).getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return t.refuse("oneDNN does not support the element type");
  for (ValueRange values :
       {ValueRange(single->op->getOperands()), ValueRange(single->op->getResults())})
    for (Value value : values)
      if (typeOf(value).getNumElements() == 0)
        return t.refuse("an empty tensor");
  t.call.desc.setMathMode(single->op);
  if (auto gradient = dyn_cast<ConvWeightGradOp>(single->op))
    return t.weightGradient(gradient);
  if (auto pool = dyn_cast<MaxPoolPositionsOp>(single->op))
    return t.maxPool(pool);
  if (auto gradient = dyn_cast<MaxPoolGradOp>(single->op))
    return t.maxPoolGradient(gradient);
  return t.averagePoolGradient(cast<AvgPoolGradOp>(single->op));
}

} // namespace dlc::onednn_desc

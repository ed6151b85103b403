//===- Attention.cpp - CPU attention and its gradients without the score matrix ---===//
#include "codegen/cuda/contract/Attention.h"
#include "codegen/providers/Accuracy.h"
#include "codegen/providers/Refusal.h"
#include "passes/fuse/analysis/StridedView.h"
#include "passes/fuse/attention/FusedAttention.h"
#include "passes/place/Cost.h"
#include "runtime/library/attention/Describe.h"
#include "runtime/library/schema/Schema.h"

using namespace mlir;

namespace dlc {

namespace {

/// Describes a tensor view. Dimensions of size 1 get stride 1 or, in a mask, 0 (broadcast).
void describeView(const StridedView &view, bool isMask, schema::View &to) {
  to.offset = view.offset;
  to.strides = list(view.strides);
  for (auto [size, stride] : llvm::zip(view.shape, to.strides))
    if (size == 1)
      stride = isMask ? 0 : 1;
}

class AttentionCallBuilder {
public:
  AttentionCallBuilder(FusionOp fusion, Operation *op)
      : fusion(fusion), op(op), rank(typeOf(op->getOperand(0)).getRank()) {}

  LibraryCall make(int parts) {
    auto q = typeOf(op->getOperand(0)), k = typeOf(op->getOperand(1)),
         v = typeOf(op->getOperand(2));
    bool isGradient = isa<AttentionGradOp>(op);
    call.library = "attention";
    call.flops = estimateFlops(op);
    fields.kind = isGradient ? schema::AttentionKind::Gradient : schema::AttentionKind::Forward;
    fields.dtype = *parseDType(elementName(q.getElementType()));
    fields.lanes = attention::lanes();
    fields.parts = parts;
    fields.scale = op->getAttrOfType<FloatAttr>("scale").getValueAsDouble();
    fields.causal = op->hasAttr("causal");
    fields.batch = list(q.getShape().drop_back(2));
    fields.queries = q.getDimSize(rank - 2);
    fields.keys = k.getDimSize(rank - 2);
    fields.depth = q.getDimSize(rank - 1);
    fields.width = v.getDimSize(rank - 1);
    if (parts)
      call.implementation = "attention:bf16x" + std::to_string(parts * (parts + 1) / 2);
    else
      call.implementation =
          "attention:" + std::string(runtime::getKernelSetName(attention::lanes()));
    reads(fields.q, op->getOperand(0));
    reads(fields.k, op->getOperand(1));
    reads(fields.v, op->getOperand(2));
    if (isGradient) {
      reads(fields.y, op->getOperand(3));
      reads(fields.lse.emplace(), op->getOperand(4));
      reads(fields.dy.emplace(), op->getOperand(5));
      readsMask(6);
      writes(fields.dq.emplace(), op->getResult(0));
      writes(fields.dk.emplace(), op->getResult(1));
      writes(fields.dv.emplace(), op->getResult(2));
    } else {
      readsMask(3);
      writes(fields.y, op->getResult(0));
      if (op->getNumResults() == 2) {
        fields.sums = yieldedOf(op->getResult(1)).has_value();
        if (*fields.sums)
          writes(fields.lse.emplace(), op->getResult(1));
      }
    }
    call.desc = fields.toJson();
    return std::move(call);
  }

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  void reads(schema::View &to, Value operand, bool isMask = false) {
    StridedView view = *matchStridedView(operand);
    describeView(view, isMask, to);
    call.arguments.push_back({CallArgument::Kind::Value, getOuterValue(fusion, view.base)});
    call.bytes += double(storageBytes(typeOf(operand)));
  }

  void readsMask(unsigned number) {
    if (number >= op->getNumOperands())
      return;
    Value value = op->getOperand(number);
    schema::MaskView &mask = fields.mask.emplace();
    reads(mask, value, /*isMask=*/true);
    mask.strides.insert(mask.strides.begin(), size_t(rank) - mask.strides.size(), 0);
    mask.dtype = *parseDType(elementName(typeOf(value).getElementType()));
  }

  std::optional<unsigned> yieldedOf(OpResult result) {
    ValueRange yielded = fusion.getBody().front().getTerminator()->getOperands();
    for (unsigned i = 0; i < yielded.size(); ++i)
      if (matchStridedDestination(result, yielded[i]))
        return i;
    return std::nullopt;
  }

  /// Adds a result of the attention to the call. If the fusion does not yield it, it is written to
  /// scratch memory.
  void writes(schema::View &place, OpResult result) {
    CallArgument to{CallArgument::Kind::Scratch};
    auto type = typeOf(result);
    to.bytes = storageBytes(type);
    auto dense = ref::rowMajorStrides(type.getShape());
    StridedView view{result, SmallVector<int64_t>(type.getShape()),
                     SmallVector<int64_t>(dense.begin(), dense.end())};
    if (auto number = yieldedOf(result)) {
      view = *matchStridedDestination(
          result, fusion.getBody().front().getTerminator()->getOperand(*number));
      to.kind = CallArgument::Kind::Result;
      to.result = *number;
      to.bytes = 0;
    }
    describeView(view, /*isMask=*/false, place);
    call.arguments.push_back(to);
    call.bytes += double(storageBytes(type));
  }

  FusionOp fusion;
  Operation *op;
  int64_t rank;
  LibraryCall call;
  schema::Attention fields;
};

std::optional<LibraryCall> describeAttention(Operation *whole, int parts, int threads,
                                             std::string *why) {
  Refusal refuse{why};
  auto fusion = dyn_cast<FusionOp>(whole);
  Operation *op = fusion ? cuda::findAttention(fusion) : nullptr;
  if (!op)
    return refuse("not attention");
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  if (!element.isF32() && !element.isBF16())
    return refuse("required: attention of f32 or bf16; found: " + elementName(element));
  if (parts && !attention::hasTiles())
    return refuse("this processor has no AMX tiles for bf16");
  if (!cuda::canGenerateAttention(fusion, op, why))
    return std::nullopt;
  LibraryCall call = AttentionCallBuilder(fusion, op).make(parts);
  call.workspace = std::max<int64_t>(0, attention::scratchBytes(call.desc, threads));
  return call;
}

class AttentionProvider : public CallProvider {
public:
  AttentionProvider()
      : CallProvider({.name = "attention",
                      .description = "attention and its gradients without the score matrix",
                      .parameter = "parts"}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    // Returns the values of the parameter "parts" of the candidates. 0 selects kernels in vector
    // registers. Other values are the number of bf16 parts of an operand on AMX tiles: 1 for bf16
    // operands, and 2 or 3 for f32 operands unless the accuracy is strict.
    Operation *attention = collector.fusion ? cuda::findAttention(collector.fusion) : nullptr;
    if (!attention)
      return {};
    bool narrow =
        cast<RankedTensorType>(attention->getOperand(0).getType()).getElementType().isBF16();
    if (attention::hasTiles() && narrow)
      return {0, 1};
    if (attention::hasTiles() && !isStrict(collector))
      return {0, 2, 3};
    return {0};
  }
  std::optional<LibraryCall> make(Operation *op, int64_t parts, int threads,
                                  std::string *why) const override {
    return describeAttention(op, int(parts), threads, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    const auto fields = schema::Attention::read(call.desc, call.library);
    bool isGradient = fields.kind == schema::AttentionKind::Gradient;
    double heads = multiplySizes(std::vector<int64_t>(fields.batch)),
           queries = double(fields.queries), keys = double(fields.keys);
    double depth = double(fields.depth), width = double(fields.width), parts = double(fields.parts);
    // AMX tiles pad rows and columns. With a causal mask, blocks above the diagonal are skipped.
    double filled =
        parts > 0 ? laneShare(queries, machine.tileRows) * laneShare(keys, machine.tileColumns) : 1;
    double scores = heads * queries * keys / filled *
                    (fields.causal && keys > machine.attentionBlock ? 0.6 : 1);
    double flops = 2 * scores * (isGradient ? 3 * depth + 2 * width : depth + width);
    double elements = heads * (queries + keys) * (depth + width) * (isGradient ? 2 : 1);
    double cores = flops > machine.wakeFlops ? cost.threads : 1;
    double part = isGradient && parts == 0 ? machine.attentionGradientPart : 1;
    double nanoseconds = scores * (isGradient ? 1.5 : 1) /
                         (machine.attentionScores * part * cost.lanes / 16 * cores);
    if (parts > 0) {
      double split = (elements + scores * (isGradient ? 3 : 1)) * (parts > 1 ? parts / 2 : 0.7);
      nanoseconds += flops * parts * (parts + 1) / 2 / (machine.attentionTileGflops * cores) +
                     split / (machine.splitParts * 2 * cores);
    } else {
      nanoseconds += flops / (machine.attentionGflops * part * cost.lanes / 16 *
                              laneShare(width, 2 * cost.lanes) * cores) +
                     elements / (machine.splitParts * cores);
    }
    // bf16 operands are converted to f32 before they are packed.
    if (fields.dtype == DType::BF16)
      nanoseconds += elements / (machine.splitParts * cores);
    nanoseconds = std::max(nanoseconds, cost.traffic(call.bytes, cores)) +
                  (parts > 0 ? 1000 * machine.tileCall : 0);
    return cost.ended(call, nanoseconds);
  }
  bool hasFusedAttention() const override { return true; }
};

} // namespace

const Provider &provide::attention() {
  static const AttentionProvider provider;
  return provider;
}

} // namespace dlc

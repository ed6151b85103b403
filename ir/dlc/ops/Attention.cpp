//===- Attention.cpp - scaled dot-product attention -----------------------===//
#include "ir/dlc/Infer.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Attention.cpp.inc"

void DlcDialect::registerAttention() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Attention.cpp.inc"
      >();
}

namespace {
/// Sizes and device that are inferred from the operands of attention.
struct InferredSizes {
  Shape rows;     ///< query rows: [batch.., T]
  int64_t values; ///< E, the size of a value vector
  OnAttr device;
};

FailureOr<InferredSizes> inferAttention(const InferenceSite &site, NamedOperand q, NamedOperand k,
                                        NamedOperand v, NamedOperand mask) {
  size_t rank = q.type().getRank();
  if (rank < 3)
    return site.fail("C1: ranks must be 3 or more; 'q' is ", shapeText(q.type().getShape()),
                     "; reshape it to [batch.., T, D]");
  Shape batch(q.type().getShape().drop_back(2));
  for (const NamedOperand &other : {k, v}) {
    ArrayRef<int64_t> dims = other.type().getShape();
    if (dims.size() != rank)
      return site.fail("C1: ranks must agree; 'q' has rank ", rank, ", '", other.name, "' rank ",
                       dims.size(), "; reshape one");
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (!areDimsCompatible(batch[d], dims[d]))
        return site.fail("C1: the batch dimensions must agree; dimension ", d, " is ", batch[d],
                         " in 'q' and ", dims[d], " in '", other.name, "'; broadcast one");
      batch[d] = mergeDims(batch[d], dims[d]);
    }
  }
  int64_t t = q.type().getDimSize(rank - 2), s = k.type().getDimSize(rank - 2);
  if (!areDimsCompatible(q.type().getDimSize(rank - 1), k.type().getDimSize(rank - 1)))
    return site.fail("C2: q and k must agree in D, the last dimension; found ",
                     q.type().getDimSize(rank - 1), " and ", k.type().getDimSize(rank - 1),
                     "; correct one of the shapes");
  if (!areDimsCompatible(s, v.type().getDimSize(rank - 2)))
    return site.fail("C2: k and v must agree in S, the last dimension but one; found ", s, " and ",
                     v.type().getDimSize(rank - 2), "; correct one of the shapes");
  if (mask.value) {
    Type element = mask.type().getElementType();
    Shape scores(batch);
    scores.push_back(t);
    scores.push_back(mergeDims(s, v.type().getDimSize(rank - 2)));
    if (!element.isInteger(1) && element != q.type().getElementType())
      return site.fail("C3: 'mask' must be bool or have q's element type; found ", element,
                       "; convert it with dlc.cast");
    if (!broadcastsTo(mask.type().getShape(), scores))
      return site.fail("C3: 'mask' must broadcast to ", shapeText(scores), "; found ",
                       shapeText(mask.type().getShape()), "; correct the shape");
  }
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C4", {q, k, v})) ||
      failed(device = commonDevice(site, "C4", {q, k, v, mask})))
    return failure();
  Shape rows(batch);
  rows.push_back(t);
  return InferredSizes{rows, v.type().getDimSize(rank - 1), *device};
}

Shape appendDim(Shape shape, int64_t size) {
  shape.push_back(size);
  return shape;
}

/// Returns the element type of the logsumexp result: f64 for f64 operands, otherwise f32.
Type getLogSumExpType(NamedOperand q) {
  Type element = q.type().getElementType();
  return element.isF64() ? element : Float32Type::get(element.getContext());
}
} // namespace

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand q{"q", adaptor.getQ()};
  auto found = inferAttention(site, q, {"k", adaptor.getK()}, {"v", adaptor.getV()},
                              {"mask", adaptor.getMask()});
  if (failed(found))
    return failure();
  return addResult(site, types, appendDim(found->rows, found->values), q.type().getElementType(),
                   found->device);
}

LogicalResult AttentionTrainOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand q{"q", adaptor.getQ()};
  auto found = inferAttention(site, q, {"k", adaptor.getK()}, {"v", adaptor.getV()},
                              {"mask", adaptor.getMask()});
  if (failed(found) || failed(addResult(site, types, appendDim(found->rows, found->values),
                                        q.type().getElementType(), found->device)))
    return failure();
  return addResult(site, types, found->rows, getLogSumExpType(q), found->device);
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, Types &types) {
  InferenceSite site{location, getOperationName()};
  NamedOperand q{"q", adaptor.getQ()}, k{"k", adaptor.getK()}, v{"v", adaptor.getV()};
  NamedOperand y{"y", adaptor.getY()}, lse{"lse", adaptor.getLse()}, dy{"dy", adaptor.getDy()};
  auto found = inferAttention(site, q, k, v, {"mask", adaptor.getMask()});
  if (failed(found))
    return failure();
  Shape result = appendDim(found->rows, found->values);
  if (failed(checkShape(site, "C5", y, result, "[.., T, E]")) ||
      failed(checkShape(site, "C5", dy, result, "[.., T, E]")) ||
      failed(sameElementType(site, "C5", {q, y, dy})) ||
      failed(checkShape(site, "C6", lse, found->rows, "[.., T]")) ||
      failed(commonDevice(site, "C4", {q, y, lse, dy})))
    return failure();
  if (lse.type().getElementType() != getLogSumExpType(q))
    return site.fail("C6: 'lse' must be of ", getLogSumExpType(q), "; found ",
                     lse.type().getElementType(), "; take attention_train's");
  for (const NamedOperand &of : {q, k, v})
    if (failed(
            addResult(site, types, of.type().getShape(), q.type().getElementType(), found->device)))
      return failure();
  return success();
}

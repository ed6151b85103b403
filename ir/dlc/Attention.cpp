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

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Site site{location, getOperationName()};
  Operand q{"q", adaptor.getQ()}, k{"k", adaptor.getK()}, v{"v", adaptor.getV()},
      mask{"mask", adaptor.getMask()};
  size_t rank = q.type().getRank();
  if (rank < 3)
    return site.fail("C1: ranks must be 3 or more; 'q' is ", shapeText(q.type().getShape()),
                     "; reshape it to [batch.., T, D]");
  Shape batch(q.type().getShape().drop_back(2));
  for (const Operand &other : {k, v}) {
    ArrayRef<int64_t> dims = other.type().getShape();
    if (dims.size() != rank)
      return site.fail("C1: ranks must agree; 'q' has rank ", rank, ", '", other.name, "' rank ",
                       dims.size(), "; reshape one");
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (!dimsAgree(batch[d], dims[d]))
        return site.fail("C1: the batch dimensions must agree; dimension ", d, " is ", batch[d],
                         " in 'q' and ", dims[d], " in '", other.name, "'; broadcast one");
      batch[d] = mergeDims(batch[d], dims[d]);
    }
  }
  int64_t t = q.type().getDimSize(rank - 2), s = k.type().getDimSize(rank - 2);
  if (!dimsAgree(q.type().getDimSize(rank - 1), k.type().getDimSize(rank - 1)))
    return site.fail("C2: q and k must agree in D, the last dimension; found ",
                     q.type().getDimSize(rank - 1), " and ", k.type().getDimSize(rank - 1),
                     "; mend one shape");
  if (!dimsAgree(s, v.type().getDimSize(rank - 2)))
    return site.fail("C2: k and v must agree in S, the last dimension but one; found ", s, " and ",
                     v.type().getDimSize(rank - 2), "; mend one shape");
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
                       shapeText(mask.type().getShape()), "; mend the shape");
  }
  FailureOr<OnAttr> device;
  if (failed(sameElementType(site, "C4", {q, k, v})) ||
      failed(device = commonDevice(site, "C4", {q, k, v, mask})))
    return failure();
  Shape shape(batch);
  shape.push_back(t);
  shape.push_back(v.type().getDimSize(rank - 1));
  return addResult(site, types, shape, q.type().getElementType(), *device);
}

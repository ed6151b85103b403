//===- Movement.cpp - reorders and transposes as oneDNN calls -------===//
#include "codegen/providers/onednn/Describe.h"

using namespace mlir;

namespace dlc::onednn_desc {

/// Returns the name of an element type of the same width that oneDNN can copy. The type does not
/// matter, because the reorder only moves elements. f16 is copied as bf16, for which oneDNN has
/// fast code.
static std::optional<std::string> getCopyTypeName(Type element) {
  if (element.isF16())
    return "bf16";
  if (element.isF32() || element.isBF16())
    return elementName(element);
  switch (ref::elementBytes(element)) {
  case 1:
    return "u8";
  case 4:
    return "i32";
  default:
    return std::nullopt;
  }
}

std::optional<QueryResult> queryMovement(Operation *op, const OnednnQuery &query) {
  auto refuse = [&](const char *reason) { return query.refuse(reason); };
  PendingCall call;
  call.op = op;
  call.desc.call.kind = schema::OnednnKind::Reorder;
  schema::OnednnArguments &arguments = call.desc.arguments;
  Value x, y = op->getResult(0);
  if (isa<ReorderOp>(op)) {
    x = op->getOperand(0);
    arguments.src = describeArgument(x);
    arguments.dst = describeArgument(y);
    if (typeOf(x).getElementType().isF16())
      arguments.src->dtype = arguments.dst->dtype = *getCopyTypeName(typeOf(x).getElementType());
  } else {
    auto fusion = dyn_cast<FusionOp>(op);
    auto transpose = fusion ? dyn_cast<TransposeOp>(fusion.getBody().front().front())
                            : dyn_cast<TransposeOp>(op);
    if (!transpose)
      return refuse("oneDNN has no primitive for this operation");
    x = fusion ? getOuterValue(fusion, transpose.getX()) : transpose.getX();
    auto type = typeOf(x);
    auto name = getCopyTypeName(type.getElementType());
    if (!name || type.getRank() < 2 || type.getRank() > 6 || type.getNumElements() == 0)
      return refuse("oneDNN does not support reorders of this element type or rank");
    // The result's dimension i is the operand's dimension permutation[i], so the operand is
    // described by permuted dims and strides.
    auto strides = ref::rowMajorStrides(type.getShape());
    std::vector<int64_t> dims, from;
    for (int64_t p : transpose.getPermutation()) {
      dims.push_back(type.getDimSize(p));
      from.push_back(strides[p]);
    }
    arguments.src = describeStrided(dims, from, *name);
    arguments.dst = describeArgument(dims, type.getElementType());
    arguments.dst->dtype = *name;
  }
  call.sources.push_back({"src", {CallArgument::Kind::Value, x}});
  call.sources.push_back({"dst", {CallArgument::Kind::Result}});
  return completeCall(std::move(call), query);
}

} // namespace dlc::onednn_desc

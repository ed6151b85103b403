//===- CustomCall.cpp - call targets of custom_call -----------------------===//
#include "frontend/mlir/stablehlo/Node.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Sharding annotations for the partitioner have no effect on one device: the results are the
/// operands.
void forwardOperands(Node &n, Build &b) {
  if (b.require(n.ins.size() == n.outs.size(), "required: as many operands as results"))
    n.outs = n.ins;
}

/// Imports custom calls of functions that StableHLO does not have, which jax.export writes as
/// calls.
template <typename Op> void unary(Node &n, Build &b) { n.set(b.op<Op>({n.in(0)})); }

void topK(Node &n, Build &b) {
  auto attributes = n.attr<DictionaryAttr>("mhlo.attributes");
  auto k = attributes ? attributes.getAs<IntegerAttr>("k") : IntegerAttr();
  auto largest = attributes ? attributes.getAs<BoolAttr>("largest") : BoolAttr();
  const int64_t rank = b.rank(n.in(0));
  if (!b.require(k && rank > 0 && n.outs.size() == 2,
                 "required: an operand of rank 1 or more, two results, and k in mhlo.attributes"))
    return;
  bool isLargest = !largest || largest.getValue();
  std::vector<Value> found =
      b.ops<TopKOp>({n.in(0)}, {b.attr("k", k.getInt()), b.attr("axis", rank - 1),
                                b.attr("largest", b.b.getBoolAttr(isLargest)),
                                b.attr("sorted", b.b.getBoolAttr(true))});
  if (!b.ok())
    return;
  n.set(0, found[0]);
  n.set(1, b.cast(found[1], n.resultElement(1)));
}

const OperatorEntry targets[] = {
    {"Sharding", forwardOperands},
    {"SPMDFullToShardShape", forwardOperands},
    {"SPMDShardToFullShape", forwardOperands},
    {"mhlo.acos", unary<AcosOp>},
    {"mhlo.acosh", unary<AcoshOp>},
    {"mhlo.asin", unary<AsinOp>},
    {"mhlo.asinh", unary<AsinhOp>},
    {"mhlo.atan", unary<AtanOp>},
    {"mhlo.atanh", unary<AtanhOp>},
    {"mhlo.cosh", unary<CoshOp>},
    {"mhlo.erf", unary<ErfOp>},
    {"mhlo.sinh", unary<SinhOp>},
    {"mhlo.tan", unary<TanOp>},
    {"mhlo.topk", topK},
};

void customCall(Node &n, Build &b) {
  StringRef target = n.attr<StringAttr>("call_target_name").getValue();
  for (const OperatorEntry &entry : targets)
    if (target == entry.name)
      return entry.handler(n, b);
  b.error("required: a custom call that docs/reference/stablehlo.md lists; found: @" + target +
          "; rewrite the function without the library function behind this call");
}

const OperatorEntry table[] = {
    {"stablehlo.custom_call", customCall},
};

} // namespace

ArrayRef<OperatorEntry> customCallEntries() { return table; }
ArrayRef<OperatorEntry> customCallTargets() { return targets; }

} // namespace dlc::stablehlo

//===- Function.cpp - functions of the chlo dialect -------------------------------===//
#include "frontend/mlir/stablehlo/Node.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

template <typename Op> void importUnary(Node &n, Build &b) { n.set(b.op<Op>({n.in(0)})); }
void importIdentity(Node &n, Build &) { n.set(n.in(0)); }
void importSquare(Node &n, Build &b) { n.set(b.mul(n.in(0), n.in(0))); }

template <bool positive, bool negative> void importIsInf(Node &n, Build &b) {
  n.set(b.op<IsInfOp>({n.in(0)}, {b.attr("positive", b.b.getBoolAttr(positive)),
                                  b.attr("negative", b.b.getBoolAttr(negative))}));
}

const OperatorEntry table[] = {
    {"chlo.acos", importUnary<AcosOp>},
    {"chlo.acosh", importUnary<AcoshOp>},
    {"chlo.asin", importUnary<AsinOp>},
    {"chlo.asinh", importUnary<AsinhOp>},
    {"chlo.atan", importUnary<AtanOp>},
    {"chlo.atanh", importUnary<AtanhOp>},
    {"chlo.conj", importIdentity},
    {"chlo.cosh", importUnary<CoshOp>},
    {"chlo.erf", importUnary<ErfOp>},
    {"chlo.erf_inv", importUnary<ErfinvOp>},
    {"chlo.erfc", importUnary<ErfcOp>},
    {"chlo.is_inf", importIsInf<true, true>},
    {"chlo.is_neg_inf", importIsInf<false, true>},
    {"chlo.is_pos_inf", importIsInf<true, false>},
    {"chlo.sinh", importUnary<SinhOp>},
    {"chlo.square", importSquare},
    {"chlo.tan", importUnary<TanOp>},
};

} // namespace

ArrayRef<OperatorEntry> functionEntries() { return table; }

} // namespace dlc::stablehlo

//===- Function.cpp - functions of the chlo dialect -------------------------------===//
#include "frontend/mlir/stablehlo/Node.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

template <typename Op> void unary(Node &n, Build &b) { n.set(b.op<Op>({n.in(0)})); }
void identity(Node &n, Build &) { n.set(n.in(0)); }
void square(Node &n, Build &b) { n.set(b.mul(n.in(0), n.in(0))); }

template <bool positive, bool negative> void isInfinite(Node &n, Build &b) {
  n.set(b.op<IsInfOp>({n.in(0)}, {b.attr("positive", b.b.getBoolAttr(positive)),
                                  b.attr("negative", b.b.getBoolAttr(negative))}));
}

const Entry table[] = {
    {"chlo.acos", unary<AcosOp>},
    {"chlo.acosh", unary<AcoshOp>},
    {"chlo.asin", unary<AsinOp>},
    {"chlo.asinh", unary<AsinhOp>},
    {"chlo.atan", unary<AtanOp>},
    {"chlo.atanh", unary<AtanhOp>},
    {"chlo.conj", identity},
    {"chlo.cosh", unary<CoshOp>},
    {"chlo.erf", unary<ErfOp>},
    {"chlo.erf_inv", unary<ErfinvOp>},
    {"chlo.erfc", unary<ErfcOp>},
    {"chlo.is_inf", isInfinite<true, true>},
    {"chlo.is_neg_inf", isInfinite<false, true>},
    {"chlo.is_pos_inf", isInfinite<true, false>},
    {"chlo.sinh", unary<SinhOp>},
    {"chlo.square", square},
    {"chlo.tan", unary<TanOp>},
};

} // namespace

ArrayRef<Entry> functionEntries() { return table; }

} // namespace dlc::stablehlo

//===- Compare.cpp - comparisons and selects ------------------------------===//
#include "frontend/aten/Node.h"

using namespace mlir;

namespace dlc::aten {
namespace {

template <Predicate predicate> void compare(Node &n, Build &b) {
  Type element = n.promoted({"self", "other"});
  n.set(b.compare(predicate, n.operand("self", element), n.operand("other", element)));
}

void where(Node &n, Build &b) {
  Type element = n.resultElement();
  n.set(b.select(b.cast(n.tensor("condition"), b.i1), n.operand("self", element),
                 n.operand("other", element)));
}

void maskedFill(Node &n, Build &b) {
  Value x = n.tensor("self"), value = n.operand("value", b.elem(x));
  n.set(b.select(n.tensor("mask"), value, x));
}

void isNan(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.isFloat(x) ? b.unary<IsNanOp>(x) : b.splat(b.i1, b.shape(x), 0));
}

void isInf(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.isFloat(x) ? b.unary<IsInfOp>(x) : b.splat(b.i1, b.shape(x), 0));
}

void isFinite(Node &n, Build &b) {
  Value x = n.tensor("self");
  n.set(b.isFloat(x) ? b.negate(b.either(b.unary<IsInfOp>(x), b.unary<IsNanOp>(x)))
                     : b.splat(b.i1, b.shape(x), 1));
}

const Operator table[] = {
    {"eq.Tensor", compare<Predicate::eq>},
    {"eq.Scalar", compare<Predicate::eq>},
    {"ne.Tensor", compare<Predicate::ne>},
    {"ne.Scalar", compare<Predicate::ne>},
    {"lt.Tensor", compare<Predicate::lt>},
    {"lt.Scalar", compare<Predicate::lt>},
    {"le.Tensor", compare<Predicate::le>},
    {"le.Scalar", compare<Predicate::le>},
    {"gt.Tensor", compare<Predicate::gt>},
    {"gt.Scalar", compare<Predicate::gt>},
    {"ge.Tensor", compare<Predicate::ge>},
    {"ge.Scalar", compare<Predicate::ge>},
    {"where.self", where},
    {"where.ScalarSelf", where},
    {"where.ScalarOther", where},
    {"where.Scalar", where},
    {"masked_fill.Scalar", maskedFill},
    {"masked_fill.Tensor", maskedFill},
    {"isnan.default", isNan},
    {"isinf.default", isInf},
    {"isfinite.default", isFinite},
};

} // namespace

ArrayRef<Operator> compareOperators() { return table; }

} // namespace dlc::aten

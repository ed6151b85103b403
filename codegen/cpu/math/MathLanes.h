//===- MathLanes.h - MLIR values as the lanes that math formulas operate on ---===//
#ifndef DLC_CODEGEN_CPU_MATH_MATHLANES_H
#define DLC_CODEGEN_CPU_MATH_MATHLANES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dlc::cpu {

/// Operand type of the math formulas when code is emitted: an MLIR value of floats, integers or
/// booleans, scalar or vector, with the builder that creates the next operation.
struct Lanes {
  mlir::OpBuilder *b;
  mlir::Location loc;
  mlir::Value v;
  bool avx512 = false; ///< whether AVX-512 instructions may be emitted
  mlir::Value context; ///< pointer to the function table that is passed to kernels

  Lanes with(mlir::Value value) const { return {b, loc, value, avx512, context}; }
  template <class Op, class... Args> Lanes make(Args... args) const {
    return with(Op::create(*b, loc, args...));
  }
};

/// Returns `element` if `shape` is a scalar type, or a vector of `element` with the shape of the
/// vector type `shape`.
inline mlir::Type getTypeWithShape(mlir::Type element, mlir::Type shape) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(shape))
    return mlir::VectorType::get(vector.getShape(), element);
  return element;
}
inline mlir::Type getIntegerTypeLike(mlir::Type type) {
  unsigned width = mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return getTypeWithShape(mlir::IntegerType::get(type.getContext(), width), type);
}

inline mlir::Value emitSplatConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                                     mlir::TypedAttr element) {
  mlir::TypedAttr value = element;
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(element));
  return mlir::arith::ConstantOp::create(b, loc, value);
}
inline Lanes splatLike(const Lanes &x, double c) {
  mlir::Type element = mlir::getElementTypeOrSelf(x.v.getType());
  return x.with(emitSplatConstant(*x.b, x.loc, x.v.getType(), x.b->getFloatAttr(element, c)));
}
inline Lanes splatIntLike(const Lanes &x, int64_t c) {
  mlir::Type element = mlir::getElementTypeOrSelf(x.v.getType());
  llvm::APInt value(element.getIntOrFloatBitWidth(), c, /*isSigned=*/true, /*implicitTrunc=*/true);
  return x.with(
      emitSplatConstant(*x.b, x.loc, x.v.getType(), mlir::IntegerAttr::get(element, value)));
}
inline bool isFloat(const Lanes &x) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.v.getType()));
}

inline Lanes operator+(const Lanes &a, const Lanes &c) {
  return isFloat(a) ? a.make<mlir::arith::AddFOp>(a.v, c.v) : a.make<mlir::arith::AddIOp>(a.v, c.v);
}
inline Lanes operator-(const Lanes &a, const Lanes &c) {
  return isFloat(a) ? a.make<mlir::arith::SubFOp>(a.v, c.v) : a.make<mlir::arith::SubIOp>(a.v, c.v);
}
inline Lanes operator*(const Lanes &a, const Lanes &c) {
  return a.make<mlir::arith::MulFOp>(a.v, c.v);
}
inline Lanes operator/(const Lanes &a, const Lanes &c) {
  return a.make<mlir::arith::DivFOp>(a.v, c.v);
}
inline Lanes operator^(const Lanes &a, const Lanes &c) {
  return a.make<mlir::arith::XOrIOp>(a.v, c.v);
}
inline Lanes operator-(const Lanes &a) { return a.make<mlir::arith::NegFOp>(a.v); }

/// Arithmetic types of C++. A C++ number is converted to the element type of the Lanes operand that
/// it is combined with, so that the type of the literal does not matter.
template <class N>
concept Number = std::is_arithmetic_v<N>;
template <Number N> Lanes broadcast(const Lanes &x, N c) {
  return isFloat(x) ? splatLike(x, static_cast<double>(c))
                    : splatIntLike(x, static_cast<int64_t>(c));
}
template <Number N> Lanes operator+(const Lanes &a, N c) { return a + broadcast(a, c); }
template <Number N> Lanes operator-(const Lanes &a, N c) { return a - broadcast(a, c); }
template <Number N> Lanes operator*(const Lanes &a, N c) { return a * broadcast(a, c); }
template <Number N> Lanes operator/(const Lanes &a, N c) { return a / broadcast(a, c); }
template <Number N> Lanes operator+(N a, const Lanes &c) { return broadcast(c, a) + c; }
template <Number N> Lanes operator-(N a, const Lanes &c) { return broadcast(c, a) - c; }
template <Number N> Lanes operator*(N a, const Lanes &c) { return broadcast(c, a) * c; }
template <Number N> Lanes operator/(N a, const Lanes &c) { return broadcast(c, a) / c; }
inline Lanes operator&(const Lanes &a, int64_t c) {
  return a.make<mlir::arith::AndIOp>(a.v, splatIntLike(a, c).v);
}
inline Lanes operator|(const Lanes &a, int64_t c) {
  return a.make<mlir::arith::OrIOp>(a.v, splatIntLike(a, c).v);
}

inline Lanes compare(mlir::arith::CmpFPredicate how, const Lanes &a, const Lanes &c) {
  return a.make<mlir::arith::CmpFOp>(how, a.v, c.v);
}
inline Lanes operator<(const Lanes &a, double c) {
  return compare(mlir::arith::CmpFPredicate::OLT, a, splatLike(a, c));
}
inline Lanes operator>(const Lanes &a, double c) {
  return compare(mlir::arith::CmpFPredicate::OGT, a, splatLike(a, c));
}
inline Lanes equal(const Lanes &a, const Lanes &c) {
  return compare(mlir::arith::CmpFPredicate::OEQ, a, c);
}
inline Lanes notEqual(const Lanes &a, const Lanes &c) {
  return compare(mlir::arith::CmpFPredicate::UNE, a, c);
}
inline Lanes isZero(const Lanes &a) {
  return a.make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, a.v, splatIntLike(a, 0).v);
}
inline Lanes both(const Lanes &a, const Lanes &c) { return a.make<mlir::arith::AndIOp>(a.v, c.v); }
inline Lanes either(const Lanes &a, const Lanes &c) { return a.make<mlir::arith::OrIOp>(a.v, c.v); }
inline Lanes select(const Lanes &mask, const Lanes &a, const Lanes &c) {
  return a.make<mlir::arith::SelectOp>(mask.v, a.v, c.v);
}

inline Lanes fma(const Lanes &a, const Lanes &c, const Lanes &d) {
  return a.make<mlir::math::FmaOp>(a.v, c.v, d.v);
}
inline Lanes abs(const Lanes &a) { return a.make<mlir::math::AbsFOp>(a.v); }
inline Lanes sqrt(const Lanes &a) { return a.make<mlir::math::SqrtOp>(a.v); }
inline Lanes floor(const Lanes &a) { return a.make<mlir::math::FloorOp>(a.v); }
inline Lanes copysign(const Lanes &a, const Lanes &c) {
  return a.make<mlir::math::CopySignOp>(a.v, c.v);
}

inline Lanes widen(const Lanes &a) {
  return a.make<mlir::arith::ExtFOp>(getTypeWithShape(a.b->getF64Type(), a.v.getType()), a.v);
}
inline Lanes narrow(const Lanes &a) {
  return a.make<mlir::arith::TruncFOp>(getTypeWithShape(a.b->getF32Type(), a.v.getType()), a.v);
}
inline Lanes narrowInt(const Lanes &a) {
  return a.make<mlir::arith::TruncIOp>(getTypeWithShape(a.b->getI32Type(), a.v.getType()), a.v);
}
inline Lanes bits(const Lanes &a) {
  return a.make<mlir::arith::BitcastOp>(getIntegerTypeLike(a.v.getType()), a.v);
}
inline Lanes fromBits(const Lanes &i, const Lanes &type) {
  return i.make<mlir::arith::BitcastOp>(type.v.getType(), i.v);
}
inline Lanes toFloat(const Lanes &i, const Lanes &type) {
  return i.make<mlir::arith::SIToFPOp>(type.v.getType(), i.v);
}
inline Lanes shiftLeft(const Lanes &a, int64_t n) {
  return a.make<mlir::arith::ShLIOp>(a.v, splatIntLike(a, n).v);
}
inline Lanes shiftRight(const Lanes &a, int64_t n) {
  return a.make<mlir::arith::ShRUIOp>(a.v, splatIntLike(a, n).v);
}
inline Lanes shiftRightSigned(const Lanes &a, int64_t n) {
  return a.make<mlir::arith::ShRSIOp>(a.v, splatIntLike(a, n).v);
}

/// Returns whether the processor computes p 2^n by one instruction (`vscalef` of AVX-512).
inline bool hasVscalef(const Lanes &p) {
  mlir::Type element = mlir::getElementTypeOrSelf(p.v.getType());
  return p.avx512 && (element.isF32() || element.isF64());
}
/// Returns p 2^n for an integer n of any size, rounded once (`vscalef`). Requires hasVscalef(p).
Lanes scaleByVscalef(const Lanes &p, const Lanes &n);

/// Returns whether the processor selects from a table of sixteen f32 elements by one instruction
/// (`vpermps` of AVX-512).
inline bool hasTableLookup16(const Lanes &x) {
  return x.avx512 && mlir::getElementTypeOrSelf(x.v.getType()).isF32();
}
/// Table lookup: returns the elements of `from` whose indices are the low four bits of `which`.
/// Requires hasTableLookup16(which).
Lanes lookupTable16(const Lanes &which, const double (&from)[16]);

/// Returns a / c with an error of at most two ulps. Requires a finite a and a normal c whose
/// reciprocal is normal too.
Lanes divideApproximately(const Lanes &a, const Lanes &c);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_MATH_MATHLANES_H

//===- Types.cpp - element types and type promotion -----------------------===//
#include "frontend/aten/Node.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace dlc::aten {

Type parseElementType(StringRef name, MLIRContext *context) {
  if (name == "bool")
    return IntegerType::get(context, 1);
  unsigned width = 0;
  if (name.consume_front("u"))
    return name.getAsInteger(10, width) ? Type()
                                        : IntegerType::get(context, width, IntegerType::Unsigned);
  if (name.starts_with("i"))
    return name.drop_front().getAsInteger(10, width) ? Type() : IntegerType::get(context, width);
  return llvm::StringSwitch<Type>(name)
      .Case("f16", Float16Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Case("f32", Float32Type::get(context))
      .Case("f64", Float64Type::get(context))
      .Default(Type());
}

namespace {

/// Returns the category of a type in PyTorch's promotion: 0 for bool, 1 for integers, 2 for floats,
/// and -1 for no type.
int category(Type t) { return !t ? -1 : isa<FloatType>(t) ? 2 : t.isInteger(1) ? 0 : 1; }

Type promoteTypes(Type a, Type c) {
  if (!a || a == c)
    return c;
  if (!c || category(a) > category(c))
    return a;
  if (category(a) < category(c))
    return c;
  unsigned wide = std::max(a.getIntOrFloatBitWidth(), c.getIntOrFloatBitWidth());
  if (isa<FloatType>(a)) {
    if (a.getIntOrFloatBitWidth() == c.getIntOrFloatBitWidth())
      return Float32Type::get(a.getContext());
    return a.getIntOrFloatBitWidth() == wide ? a : c;
  }
  Type isUnsigned = a.isUnsignedInteger() ? a : c.isUnsignedInteger() ? c : Type();
  if (!isUnsigned || (a.isUnsignedInteger() && c.isUnsignedInteger()))
    return a.getIntOrFloatBitWidth() == wide ? a : c;
  // A signed and an unsigned type are promoted to a signed type that can represent the values of
  // both.
  Type other = isUnsigned == a ? c : a;
  unsigned need = 2 * isUnsigned.getIntOrFloatBitWidth();
  return IntegerType::get(a.getContext(), std::max(need, other.getIntOrFloatBitWidth()));
}

} // namespace

Type Node::promoted(ArrayRef<StringRef> arguments) {
  // The promoted types of three kinds of operands: tensors with dimensions, 0-d tensors, and
  // numbers.
  Type met[3];
  for (StringRef name : arguments) {
    if (isTensor(name)) {
      Value v = tensor(name);
      Type &to = met[b.rank(v) == 0];
      to = promoteTypes(to, b.elem(v));
      continue;
    }
    const llvm::json::Value *value = find(name);
    if (!value)
      continue;
    Type number = value->getAsBoolean() ? b.i1 : value->getAsInteger() ? b.i64 : b.f32;
    met[2] = promoteTypes(met[2], number);
  }
  Type type = met[0];
  for (Type lower : {met[1], met[2]})
    if (category(lower) > category(type))
      type = type ? promoteTypes(type, lower) : lower;
  return type;
}

} // namespace dlc::aten

//===- Attributes.cpp - verification of the attributes that passes exchange ----===//
#include "ir/dlc/Attributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace dlc {

namespace {

/// Columns of Attributes.def that the verifier uses, for one attribute.
struct Row {
  StringRef name, type;
  bool (*hasType)(Attribute value);
};

constexpr Row rows[] = {
#define ATTRIBUTE(constant, name, object, type, writers, readers, meaning)                         \
  {constant, #type, [](Attribute value) { return isa<type>(value); }},
#include "ir/dlc/Attributes.def"
#undef ATTRIBUTE
};

/// Describes the values of an MLIR attribute class.
StringRef describe(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Case("UnitAttr", "a unit attribute, without a value")
      .Case("StringAttr", "a string")
      .Case("IntegerAttr", "an integer")
      .Case("FloatAttr", "a floating-point number")
      .Case("TypeAttr", "a type")
      .Case("ElementsAttr", "the elements of a tensor, such as dense<0.0> : tensor<2xf32>")
      .Case("DenseI64ArrayAttr", "integers, such as array<i64: 1, 2>")
      .Case("ArrayAttr", "a list, such as [\"a\", \"b\"]")
      .Case("DictionaryAttr", "a dictionary, such as {layer = 0}")
      .Default(type);
}

} // namespace

LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.name == name; });
  if (row == std::end(rows))
    return op->emitError() << "C8: attribute '" << name
                           << "' is unknown; required: one of the attributes in "
                              "docs/reference/attributes.md; remove it or correct its name";
  if (row->hasType(attribute.getValue()))
    return success();
  return op->emitError() << "C8: attribute '" << name << "': required: " << describe(row->type)
                         << "; found: " << attribute.getValue() << "; correct the value";
}

} // namespace dlc

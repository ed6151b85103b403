//===- Shape.cpp - the shapes of tensor types --------------------------------===//
#include "ir/dlc/Shape.h"

#include "ir/size/SizeDialect.h"
#include "runtime/size/Text.h"

using namespace mlir;
using namespace dlc;

std::string Dim::text() const { return isKnown() ? size::format(value) : "?"; }

Dim TensorShape::operator[](int64_t dimension) const {
  ArrayRef<int64_t> numbers = type.getShape();
  if (!ShapedType::isDynamic(numbers[size_t(dimension)]))
    return numbers[size_t(dimension)];
  auto dims = dyn_cast_or_null<size::DimsAttr>(type.getEncoding());
  if (!dims)
    return Dim::unknown();
  const auto index = llvm::count_if(numbers.take_front(size_t(dimension)), ShapedType::isDynamic);
  return Dim(dims.getSizes()[size_t(index)].getSize());
}

SmallVector<Dim, 6> TensorShape::dims() const {
  SmallVector<Dim, 6> all;
  for (int64_t i = 0; i < rank(); ++i)
    all.push_back((*this)[i]);
  return all;
}

Dim TensorShape::countElements() const {
  Dim product = 1;
  for (const Dim &dim : dims())
    product = product * dim;
  return product;
}

std::string TensorShape::text() const {
  std::string text = "[";
  for (int64_t i = 0; i < rank(); ++i)
    text += (i ? ", " : "") + (*this)[i].text();
  return text + "]";
}

namespace dlc {
bool operator==(const TensorShape &a, const TensorShape &b) {
  if (a.rank() != b.rank())
    return false;
  if (a.isStatic() && b.isStatic())
    return a.type.getShape() == b.type.getShape();
  for (int64_t i = 0; i < a.rank(); ++i)
    if (!(a[i] == b[i]))
      return false;
  return true;
}
} // namespace dlc

ArrayRef<int64_t> dlc::staticShape(Type type) {
  auto shaped = cast<ShapedType>(type);
  assert(shaped.hasStaticShape() && "a dimension of the type is not a number");
  return shaped.getShape();
}

int64_t dlc::staticDim(Type type, int64_t dimension) {
  const int64_t number = cast<ShapedType>(type).getShape()[size_t(dimension)];
  assert(!ShapedType::isDynamic(number) && "the size of this dimension is not a number");
  return number;
}

int64_t dlc::staticElements(Type type) {
  // MLIR asserts that all dimensions are numbers.
  return cast<ShapedType>(type).getNumElements();
}

RankedTensorType dlc::makeTensorType(ArrayRef<int64_t> shape, Type element, Attribute encoding) {
  assert(llvm::none_of(shape, ShapedType::isDynamic) && "a dimension is not a number");
  assert(!isa_and_nonnull<size::DimsAttr>(encoding) && "the encoding has sizes of another shape");
  return RankedTensorType::get(shape, element, encoding);
}

RankedTensorType dlc::makeTensorType(ArrayRef<Dim> shape, Type element, OnAttr place) {
  SmallVector<int64_t, 6> numbers;
  SmallVector<size::ExprAttr> sizes;
  for (const Dim &dim : shape) {
    numbers.push_back(dim.isStatic() ? dim.number() : ShapedType::kDynamic);
    if (!dim.isStatic())
      sizes.push_back(size::ExprAttr::fromSize(element.getContext(), dim.get()));
  }
  Attribute encoding = place;
  if (!sizes.empty())
    encoding = size::DimsAttr::get(element.getContext(), sizes, place);
  return RankedTensorType::get(numbers, element, encoding);
}

RankedTensorType dlc::withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

RankedTensorType dlc::withPlace(RankedTensorType type, OnAttr place) {
  auto dims = dyn_cast_or_null<size::DimsAttr>(type.getEncoding());
  Attribute encoding = place;
  if (dims)
    encoding = size::DimsAttr::get(type.getContext(), dims.getSizes(), place);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

//===- Infer.cpp - shape inference utilities for all operation families ---===//
#include "ir/dlc/Infer.h"

#include "ir/size/SizeDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dlc;

namespace {
/// Limit of the number of elements of a tensor. It is larger than any real address space, and small
/// enough that products of sizes and strides do not overflow int64.
constexpr int64_t maxElements = int64_t(1) << 46;

std::string deviceText(OnAttr place) { return place ? "on " + place.getDeviceName() : "unplaced"; }
} // namespace

RankedTensorType dlc::tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

OnAttr dlc::getPlace(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return {};
  if (auto dims = dyn_cast_or_null<size::DimsAttr>(tensor.getEncoding()))
    return dyn_cast_or_null<OnAttr>(dims.getPlace());
  return dyn_cast_or_null<OnAttr>(tensor.getEncoding());
}

StringRef dlc::layoutOf(Type type) {
  OnAttr place = getPlace(type);
  return place ? place.getLayout() : StringRef();
}

std::string dlc::dimText(int64_t dim) {
  return ShapedType::isDynamic(dim) ? "?" : std::to_string(dim);
}

std::string dlc::shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + dimText(dim);
  return text + "]";
}

NamedOperands::NamedOperands(StringRef name, ValueRange values) {
  for (size_t i = 0; i < values.size(); ++i)
    names.push_back((name + "[" + Twine(i) + "]").str());
  for (auto [own, value] : llvm::zip_equal(names, values))
    all.push_back({own, value});
}

bool dlc::areCompatible(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [one, other] : llvm::zip_equal(inferred, declared)) {
    auto a = dyn_cast<RankedTensorType>(one), b = dyn_cast<RankedTensorType>(other);
    if (!a || !b || a.getElementType() != b.getElementType() || a.getRank() != b.getRank())
      return false;
    for (auto [x, y] : llvm::zip_equal(a.getShape(), b.getShape()))
      if (!areDimsCompatible(x, y))
        return false;
    OnAttr p = getPlace(a), q = getPlace(b);
    if (bool(p) != bool(q) || (p && !p.sameDevice(q)))
      return false;
  }
  return true;
}

bool dlc::broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(from, to.take_back(from.size())))
    if (x != 1 && !areDimsCompatible(x, y))
      return false;
  return true;
}

std::optional<int64_t> dlc::countElements(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape)
    if (llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

FailureOr<OnAttr> dlc::commonDevice(const InferenceSite &site, StringRef constraint,
                                    ArrayRef<NamedOperand> operands) {
  const NamedOperand *first = nullptr;
  for (const NamedOperand &operand : operands) {
    if (!operand.value || operand.type().getRank() == 0)
      continue;
    if (!first) {
      first = &operand;
      continue;
    }
    OnAttr a = getPlace(first->type()), b = getPlace(operand.type());
    if (bool(a) != bool(b) || (a && !a.sameDevice(b)))
      return site.fail(constraint, ": operands must be on one device; '", first->name, "' is ",
                       deviceText(a), ", '", operand.name, "' ", deviceText(b),
                       "; move one with dlc.transfer");
  }
  OnAttr place;
  if (first)
    place = getPlace(first->type());
  else
    for (const NamedOperand &operand : operands)
      if (operand.value && !place)
        place = getPlace(operand.type());
  return place && !place.getLayout().empty() ? place.withLayout("") : place;
}

bool dlc::isNarrowInteger(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && (integer.getWidth() == 8 || integer.getWidth() == 4);
}

Type dlc::withEightBits(Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.getWidth() == 4
             ? IntegerType::get(element.getContext(), 8, integer.getSignedness())
             : element;
}

std::pair<int64_t, int64_t> dlc::integerRange(IntegerType type) {
  const int64_t size = int64_t(1) << type.getWidth();
  return type.isUnsigned() ? std::pair<int64_t, int64_t>(0, size - 1)
                           : std::pair<int64_t, int64_t>(-size / 2, size / 2 - 1);
}

FailureOr<Type> dlc::contractionElement(const InferenceSite &site, StringRef typesConstraint,
                                        StringRef zeroConstraint, NamedOperand left,
                                        NamedOperand right, NamedOperand bias,
                                        NamedOperand leftZero, NamedOperand rightZero) {
  Type element = left.type().getElementType();
  bool isNarrow = isNarrowInteger(element) && isNarrowInteger(right.type().getElementType());
  if (!isNarrow) {
    if (failed(sameElementType(site, typesConstraint, {left, right, bias})))
      return failure();
    for (const NamedOperand &zero : {leftZero, rightZero})
      if (zero.value)
        return site.fail(zeroConstraint, ": '", zero.name,
                         "' needs operands of 4 or 8 bits; found ", element,
                         "; subtract it from the operand");
    return element;
  }
  Type i32 = IntegerType::get(element.getContext(), 32);
  if (bias.value && bias.type().getElementType() != i32)
    return site.fail(typesConstraint, ": '", bias.name, "' must be i32 as the sums are; found ",
                     bias.type().getElementType(), "; cast it");
  for (auto [zero, operand] : {std::pair(leftZero, left), std::pair(rightZero, right)}) {
    Type type = zero.value ? zero.type().getElementType() : i32;
    if (type != i32 && type != operand.type().getElementType())
      return site.fail(zeroConstraint, ": '", zero.name, "' must have the element type of '",
                       operand.name, "', ", operand.type().getElementType(), ", or i32; found ",
                       type, "; cast it");
  }
  return i32;
}

LogicalResult dlc::sameElementType(const InferenceSite &site, StringRef constraint,
                                   ArrayRef<NamedOperand> operands) {
  const NamedOperand *first = nullptr;
  for (const NamedOperand &operand : operands) {
    if (!operand.value)
      continue;
    if (!first)
      first = &operand;
    else if (operand.type().getElementType() != first->type().getElementType())
      return site.fail(constraint, ": element types must agree; '", first->name, "' has ",
                       first->type().getElementType(), ", '", operand.name, "' has ",
                       operand.type().getElementType(), "; convert one with dlc.cast");
  }
  return success();
}

LogicalResult dlc::broadcastShapes(const InferenceSite &site, StringRef constraint,
                                   ArrayRef<NamedOperand> operands, Shape &shape) {
  size_t rank = 0;
  for (const NamedOperand &operand : operands)
    rank = std::max<size_t>(rank, operand.type().getRank());
  shape.assign(rank, 1);
  for (const NamedOperand &operand : operands) {
    ArrayRef<int64_t> dims = operand.type().getShape();
    size_t offset = rank - dims.size();
    for (auto [i, dim] : llvm::enumerate(dims)) {
      int64_t &sofar = shape[offset + i];
      if (dim == 1 || dim == sofar)
        continue;
      // If the other operands have a static size in this dimension, a dynamic dimension has that
      // size or size 1.
      if (ShapedType::isDynamic(dim)) {
        if (sofar == 1)
          sofar = dim;
        continue;
      }
      if (sofar != 1 && !ShapedType::isDynamic(sofar)) {
        std::string shapes;
        for (const NamedOperand &each : operands)
          shapes += (shapes.empty() ? "'" : ", '") + each.name.str() + "' " +
                    shapeText(each.type().getShape());
        return site.fail(constraint, ": shapes must broadcast together; found ", sofar, " against ",
                         dim, " in dimension ", offset + i, " of ", shapes,
                         "; make the sizes equal, or one of them 1");
      }
      sofar = dim;
    }
  }
  return success();
}

LogicalResult dlc::checkAxis(const InferenceSite &site, StringRef constraint, int64_t axis,
                             NamedOperand x) {
  int64_t rank = x.type().getRank();
  if (axis >= 0 && axis < rank)
    return success();
  return site.fail(constraint, ": the axis must be a dimension of '", x.name, "'; found ", axis,
                   " for rank ", rank, "; give 0 to rank - 1");
}

LogicalResult dlc::checkShape(const InferenceSite &site, StringRef constraint, NamedOperand x,
                              ArrayRef<int64_t> wanted, StringRef meaning) {
  if (!x.value)
    return success();
  ArrayRef<int64_t> found = x.type().getShape();
  if (found.size() == wanted.size() && llvm::all_of(llvm::zip_equal(found, wanted), [](auto p) {
        return areDimsCompatible(std::get<0>(p), std::get<1>(p));
      }))
    return success();
  return site.fail(constraint, ": '", x.name, "' must be ", meaning, ", here ", shapeText(wanted),
                   "; found ", shapeText(found), "; correct the shape");
}

LogicalResult dlc::addResult(const InferenceSite &site, Types &types, ArrayRef<int64_t> shape,
                             Type element, OnAttr place) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (!ShapedType::isDynamic(dim) && dim != 0 &&
        (llvm::MulOverflow(count, dim, count) || count > maxElements))
      return site.fail("gives a result of shape ", shapeText(shape),
                       ", which no memory holds; at most 2^46 elements are possible");
  types.push_back(RankedTensorType::get(shape, element, place));
  return success();
}

namespace {
FailureOr<int64_t> boundedDim(const InferenceSite &site, StringRef constraint, unsigned dimension,
                              __int128 size, const WindowedDim &w) {
  if (size >= 0 && size <= maxElements)
    return int64_t(size);
  std::string found =
      size < 0 && size > -maxElements ? std::to_string(int64_t(size)) : "a size beyond 2^46";
  return site.fail(
      constraint,
      ": no dimension of the result may be negative (or beyond 2^46); spatial dimension ",
      dimension, " gives ", found, " (input ", w.input, ", padding ", w.low, " + ", w.high,
      ", window ", w.window, ", stride ", w.stride, ", dilation ", w.dilation,
      "); pad more or take a smaller window");
}
} // namespace

FailureOr<int64_t> dlc::windowedDim(const InferenceSite &site, StringRef constraint,
                                    unsigned dimension, WindowedDim w) {
  if (ShapedType::isDynamic(w.input) || ShapedType::isDynamic(w.window))
    return ShapedType::kDynamic;
  __int128 extent = __int128(w.dilation) * (w.window - 1) + 1;
  __int128 room = __int128(w.input) + w.low + w.high - extent;
  // Floor division, which also rounds down for negative values.
  __int128 steps = room >= 0 ? room / w.stride : -((-room + w.stride - 1) / w.stride);
  return boundedDim(site, constraint, dimension, steps + 1, w);
}

FailureOr<int64_t> dlc::transposedDim(const InferenceSite &site, StringRef constraint,
                                      unsigned dimension, WindowedDim w, int64_t extra) {
  if (ShapedType::isDynamic(w.input) || ShapedType::isDynamic(w.window))
    return ShapedType::kDynamic;
  __int128 extent = __int128(w.dilation) * (w.window - 1) + 1;
  __int128 size = (__int128(w.input) - 1) * w.stride + extent - w.low - w.high + extra;
  return boundedDim(site, constraint, dimension, size, w);
}

LogicalResult dlc::checkEntries(const InferenceSite &site, StringRef constraint, StringRef name,
                                ArrayRef<int64_t> entries, size_t count, int64_t least) {
  if (entries.size() != count)
    return site.fail(constraint, ": `", name, "` must have ", count,
                     count == 1 ? " entry" : " entries", "; found ", entries.size(),
                     "; give one per dimension that it speaks of");
  for (int64_t entry : entries)
    if (entry < least)
      return site.fail(constraint, ": the entries of `", name, "` must be ", least,
                       " or more; found ", entry);
  return success();
}

OnAttr dlc::elementwisePlace(OnAttr device, ArrayRef<int64_t> shape,
                             ArrayRef<NamedOperand> operands) {
  if (!device)
    return device;
  std::optional<StringRef> layout;
  for (const NamedOperand &operand : operands) {
    if (operand.type().getShape() != shape)
      continue;
    StringRef found = layoutOf(operand.type());
    if (layout && *layout != found)
      return device;
    layout = found;
  }
  return layout && !layout->empty() ? device.withLayout(*layout) : device;
}

LogicalResult dlc::inferUnary(const InferenceSite &site, Value x, Types &types) {
  types.push_back(x.getType());
  return success();
}

LogicalResult dlc::inferBroadcast(const InferenceSite &site, ArrayRef<NamedOperand> operands,
                                  Types &types, Type element) {
  FailureOr<OnAttr> device = commonDevice(site, "C2", operands);
  Shape shape;
  if (failed(device) || failed(broadcastShapes(site, "C3", operands, shape)))
    return failure();
  return addResult(site, types, shape, element ? element : operands.front().type().getElementType(),
                   elementwisePlace(*device, shape, operands));
}

LogicalResult dlc::inferBinary(const InferenceSite &site, Value a, Value b, Types &types) {
  NamedOperand operands[] = {{"a", a}, {"b", b}};
  if (failed(sameElementType(site, "C1", operands)))
    return failure();
  return inferBroadcast(site, operands, types);
}

//===- Dialect.cpp - the dlc dialect, its attributes and interfaces -------===//
#include "ir/dlc/Dialect.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Collective.h"
#include "ir/dlc/CustomGradient.h"
#include "ir/dlc/Infer.h"
#include "ir/dlc/Sizes.h"
#include "ir/tensor/BlobOwners.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "runtime/kind/DeviceName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc;

#include "ir/dlc/Dialect.cpp.inc"
#include "ir/dlc/Enums.cpp.inc"
#include "ir/dlc/Interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/dlc/Attrs.cpp.inc"

namespace {
/// Allows the inlining of functions of dlc operations at every call site: no dlc operation depends
/// on its context.
struct DlcInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void DlcDialect::initialize() {
  addInterfaces<DlcInlinerInterface, ref::BlobOwners>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/dlc/Attrs.cpp.inc"
      >();
  registerElementwise();
  registerQuantize();
  registerShape();
  registerGather();
  registerReduce();
  registerContract();
  registerConv();
  registerPool();
  registerNorm();
  registerAttention();
  registerRecurrent();
  registerControl();
  registerTransfer();
  registerGradient();
  registerCollectives(*this);
  registerCustomGradients(*this);
  registerSizes(*this);
}

Operation *DlcDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

namespace {
bool isState(DictionaryAttr attributes) { return attributes && attributes.contains(kStateAttr); }

StringAttr getDlcName(DictionaryAttr attributes) {
  return attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
}

/// Checks constraints C1 and C2 of `dlc.state`: it is a unit attribute of a named tensor, and the
/// names of states are unique. `all` has the attributes of all arguments, or of all results, and
/// `at` is the index of the one to check.
LogicalResult checkStateName(Operation *op, StringRef what, Type type, Attribute value,
                             ArrayRef<DictionaryAttr> all, unsigned at) {
  StringAttr name = getDlcName(all[at]);
  if (!isa<UnitAttr>(value) || !isa<RankedTensorType>(type) || !name)
    return op->emitError() << "C1: `dlc.state` must be a unit attribute of a tensor that also has "
                              "a `dlc.name`; found "
                           << value << " on " << what << " " << at << " of type " << type
                           << (name ? "" : ", which has no name") << "; correct the attributes";
  for (unsigned i = 0; i < at; ++i)
    if (isState(all[i]) && getDlcName(all[i]) == name)
      return op->emitError() << "C2: the names of states must differ; found '" << name.getValue()
                             << "' on " << what << "s " << i << " and " << at << "; rename one";
  return success();
}

bool isSplitAttribute(NamedAttribute attribute) {
  return attribute.getName() == kSplitAttr || attribute.getName() == kPartAttr;
}

/// Checks constraint C5 of `dlc.split`, which is set on a whole tensor, and `dlc.part`, which is
/// set on the shard of one rank: the number of shards divides the dimension.
LogicalResult checkSplitAttribute(Operation *op, Type type, NamedAttribute attribute) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto part = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  const bool isWhole = attribute.getName() == kSplitAttr;
  bool right = tensor && part && part.size() == 3 && part[0] >= 0 && part[0] < tensor.getRank() &&
               part[1] >= 1 && part[2] >= 1;
  int64_t shares = right ? part[2] * (isWhole ? part[1] : 1) : 1;
  if (right && !tensor.isDynamicDim(unsigned(part[0])) &&
      tensor.getDimSize(unsigned(part[0])) % shares == 0)
    return success();
  return op->emitError()
         << "C5: `" << attribute.getName().getValue()
         << "` must be a dimension, a number of ranks and a number of blocks, whose "
            "product divides the size of the dimension; found "
         << attribute.getValue() << " on a tensor of type " << type
         << "; write array<i64: 1, 2, 1> for the second dimension and two ranks";
}

/// Checks constraint C6 of `dlc.counted`: the dimension exists, and its counter is an i64 result of
/// rank 0.
LogicalResult checkCountedDimension(FunctionOpInterface function, Type type, Attribute value) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto counted = dyn_cast<DenseI64ArrayAttr>(value);
  if (tensor && counted && counted.size() == 2 && counted[0] >= 0 &&
      counted[0] < tensor.getRank() && counted[1] >= 0 &&
      counted[1] < int64_t(function.getNumResults())) {
    auto count = dyn_cast<RankedTensorType>(function.getResultTypes()[unsigned(counted[1])]);
    if (count && count.getRank() == 0 && count.getElementType().isSignlessInteger(64) &&
        !function.getResultAttr(unsigned(counted[1]), kCountedAttr))
      return success();
  }
  return function.emitError()
         << "C6: `dlc.counted` must be a dimension and the index of an i64 result of rank 0, which "
            "is the size of this dimension; found "
         << value << " on a result of type " << type
         << "; write array<i64: 0, 1> if the second result is the size of the first dimension";
}

/// Checks constraint C7 of `dlc.packed`: the tensor has the bytes of the packed 4-bit type.
LogicalResult checkPackedType(Operation *op, Type type, Attribute value) {
  auto given = dyn_cast<TypeAttr>(value);
  auto packed = given ? dyn_cast<RankedTensorType>(given.getValue()) : RankedTensorType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (packed && tensor && ref::isPackedElement(packed.getElementType())) {
    RankedTensorType bytes = ref::getPackedBytesType(packed);
    if (bytes.getShape() == tensor.getShape() && bytes.getElementType() == tensor.getElementType())
      return success();
  }
  return op->emitError()
         << "C7: `dlc.packed` must be a type of 4-bit integers whose bytes have the "
            "type of the argument or result; found "
         << value << " on a tensor of type " << type
         << "; write tensor<2x5xi4> for a tensor<2x3xui8>";
}

RankedTensorType getUnsplitType(RankedTensorType type, DenseI64ArrayAttr part) {
  SmallVector<int64_t> shape(type.getShape());
  if (part.size() == 3 && part[0] >= 0 && part[0] < type.getRank())
    shape[size_t(part[0])] *= part[1];
  return type.clone(shape);
}

template <typename F>
SmallVector<DictionaryAttr> collectAttributes(unsigned count, F attributesOf) {
  SmallVector<DictionaryAttr> all;
  for (unsigned i = 0; i < count; ++i)
    all.push_back(attributesOf(i));
  return all;
}

SmallVector<DictionaryAttr> getArgumentAttributes(FunctionOpInterface function) {
  return collectAttributes(function.getNumArguments(),
                           [&](unsigned i) { return function.getArgAttrDict(i); });
}
} // namespace

LogicalResult DlcDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute);
}

LogicalResult DlcDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return verifyAttribute(op, attribute);
  Type type = function.getArgumentTypes()[argument];
  SmallVector<DictionaryAttr> all = getArgumentAttributes(function);
  if (attribute.getName() == kStateAttr)
    return checkStateName(op, "argument", type, attribute.getValue(), all, argument);
  if (isSplitAttribute(attribute))
    return checkSplitAttribute(op, type, attribute);
  if (attribute.getName() == kPackedAttr)
    return checkPackedType(op, type, attribute.getValue());
  if (attribute.getName() != kInitAttr)
    return verifyAttribute(op, attribute);
  auto wanted = dyn_cast<RankedTensorType>(type);
  if (auto part = all[argument].getAs<DenseI64ArrayAttr>(kPartAttr); part && wanted)
    wanted = getUnsplitType(wanted, part);
  auto value = dyn_cast<ElementsAttr>(attribute.getValue());
  Type found = value ? value.getType() : Type();
  auto tensor = dyn_cast_or_null<RankedTensorType>(found);
  if (isState(all[argument]) && wanted && tensor && wanted.getShape() == tensor.getShape() &&
      wanted.getElementType() == tensor.getElementType())
    return success();
  InFlightDiagnostic error = op->emitError();
  error << "C4: `dlc.init` requires `dlc.state` and must have the argument's shape and element "
           "type, "
        << (wanted ? Type(wanted) : type) << "; found ";
  if (!isState(all[argument]))
    return error << "it without `dlc.state` on argument " << argument << "; add that or remove it";
  if (!value)
    return error << "an attribute that is no tensor; give dense elements";
  return error << found << "; correct the value";
}

LogicalResult DlcDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return verifyAttribute(op, attribute);
  Type type = function.getResultTypes()[result];
  if (isSplitAttribute(attribute))
    return checkSplitAttribute(op, type, attribute);
  if (attribute.getName() == kPackedAttr)
    return checkPackedType(op, type, attribute.getValue());
  if (attribute.getName() == kCountedAttr)
    return checkCountedDimension(function, type, attribute.getValue());
  if (attribute.getName() != kStateAttr)
    return verifyAttribute(op, attribute);
  SmallVector<DictionaryAttr> all = collectAttributes(
      function.getNumResults(), [&](unsigned i) { return function.getResultAttrDict(i); });
  if (failed(checkStateName(op, "result", type, attribute.getValue(), all, result)))
    return failure();
  SmallVector<DictionaryAttr> arguments = getArgumentAttributes(function);
  StringAttr name = getDlcName(all[result]);
  for (auto [i, attributes] : llvm::enumerate(arguments)) {
    if (!isState(attributes) || getDlcName(attributes) != name)
      continue;
    if (function.getArgumentTypes()[i] == type)
      return success();
    return op->emitError() << "C3: the next value of a state must have its type, here "
                           << function.getArgumentTypes()[i] << "; found " << type << " for '"
                           << name.getValue() << "'; cast or reshape it";
  }
  return op->emitError() << "C3: a state result must have the name of a state argument; found '"
                         << name.getValue() << "' on result " << result
                         << " alone; mark the argument with `dlc.state`";
}

std::string OnAttr::getDeviceName() const {
  return runtime::DeviceName{getKind().str(), int(getOrdinal())}.text();
}

FailureOr<OnAttr> OnAttr::fromName(MLIRContext *context, StringRef name) {
  std::optional<runtime::DeviceName> parsed = runtime::parseDeviceName(name);
  if (!parsed)
    return failure();
  return OnAttr::get(context, parsed->kind, unsigned(parsed->ordinal), "");
}

Attribute OnAttr::parse(AsmParser &parser, Type) {
  SMLoc where = parser.getCurrentLocation();
  StringRef kind, layout;
  unsigned ordinal = 0;
  if (parser.parseLess() || parser.parseKeyword(&kind) ||
      (succeeded(parser.parseOptionalColon()) && parser.parseInteger(ordinal)) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseKeyword(&layout)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<OnAttr>(where, parser.getContext(), kind, ordinal, layout);
}

void OnAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDeviceName();
  if (!getLayout().empty())
    printer << ", " << getLayout();
  printer << '>';
}

LogicalResult OnAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef kind,
                             unsigned ordinal, StringRef layout) {
  if (!runtime::isKindName(kind))
    return emitError()
           << "C1: the device must be cpu, cpu:N or cuda:N, or KIND:N of a plugin's kind "
              "in lower-case letters, digits and '_'; found '"
           << kind << "'; correct the name";
  return success();
}

LogicalResult OnAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                     function_ref<InFlightDiagnostic()> emitError) const {
  StringRef tag = getLayout();
  if (tag.empty())
    return success();
  StringRef outer = tag.take_while([](char c) { return !llvm::isDigit(c); });
  auto wrongDims = [&] {
    return emitError() << "C2: the layout must name each of the " << shape.size()
                       << " dimensions once, from 'a' on; found '" << tag << "'; correct the tag";
  };
  if (outer.size() != shape.size() || shape.size() > 26)
    return wrongDims();
  unsigned seen = 0, blocked = 0, open = 0;
  for (char c : outer) {
    unsigned dim = llvm::toLower(c) - 'a';
    if (dim >= shape.size() || (seen & (1u << dim)))
      return wrongDims();
    seen |= 1u << dim;
    if (llvm::isUpper(c))
      blocked |= 1u << dim;
  }
  open = blocked;
  for (StringRef rest = tag.drop_front(outer.size()); !rest.empty();) {
    unsigned size = 0;
    bool wrong = rest.consumeInteger(10, size) || size == 0 || size > 4096 || rest.empty() ||
                 !llvm::isLower(rest[0]);
    unsigned dim = wrong ? 0 : rest[0] - 'a';
    if (wrong || dim >= shape.size() || !(blocked & (1u << dim)))
      return emitError()
             << "C3: inner blocks must read like 16b, each for an upper-case dimension; found '"
             << tag << "'; correct the tag";
    open &= ~(1u << dim);
    rest = rest.drop_front();
  }
  if (open)
    return emitError() << "C3: every upper-case dimension must have an inner block; found '" << tag
                       << "'; add blocks such as 16b";
  return success();
}

bool dlc::isCheapMath(Operation *op) {
  return op->hasTrait<Elementwise>() && cast<FactsInterface>(op).getWeight() == 1;
}

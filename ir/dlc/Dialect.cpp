//===- Dialect.cpp - the dlc dialect, its attributes and interfaces -------===//
#include "ir/dlc/Dialect.h"

#include "ir/dlc/Infer.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
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
/// Functions of dlc operations may be inlined anywhere: nothing in them depends on where they
/// stand.
struct InlineAnywhere : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void DlcDialect::initialize() {
  addInterfaces<InlineAnywhere>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/dlc/Attrs.cpp.inc"
      >();
  registerElementwise();
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
}

Operation *DlcDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

std::string OnAttr::getDeviceName() const {
  if (getKind() == "cpu" && getOrdinal() == 0)
    return "cpu";
  return (getKind() + ":" + Twine(getOrdinal())).str();
}

FailureOr<OnAttr> OnAttr::fromName(MLIRContext *context, StringRef name) {
  auto [kind, number] = name.split(':');
  unsigned ordinal = 0;
  if ((kind != "cpu" && kind != "cuda") || (name.contains(':') && number.getAsInteger(10, ordinal)))
    return failure();
  return OnAttr::get(context, kind, ordinal, "");
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
  if (kind != "cpu" && kind != "cuda")
    return emitError() << "C1: the device must be cpu, cpu:N or cuda:N; found '" << kind
                       << "'; mend the name";
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
                       << " dimensions once, from 'a' on; found '" << tag << "'; mend the tag";
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
             << tag << "'; mend the tag";
    open &= ~(1u << dim);
    rest = rest.drop_front();
  }
  if (open)
    return emitError() << "C3: every upper-case dimension must have an inner block; found '" << tag
                       << "'; add blocks such as 16b";
  return success();
}

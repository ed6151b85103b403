//===- SizeDialect.cpp - attributes for sizes over symbols -------------------===//
#include "ir/size/SizeDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "runtime/size/Evaluate.h"
#include "runtime/size/Symbol.h"
#include "runtime/size/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::size;

#include "ir/size/Dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/size/Attrs.cpp.inc"

namespace {
/// Prints symbols as aliases: `#batch`.
struct SymbolAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    auto symbol = dyn_cast<SymbolAttr>(attribute);
    if (!symbol)
      return AliasResult::NoAlias;
    std::string name = symbol.getName().str();
    std::replace(name.begin(), name.end(), '.', '_');
    os << name;
    return AliasResult::FinalAlias;
  }
};

/// Parses the expression over the symbols. Reports an error of the text.
FailureOr<Size> parseSize(function_ref<InFlightDiagnostic()> emitError, StringRef text,
                          ArrayRef<SymbolAttr> symbols) {
  for (auto [i, symbol] : llvm::enumerate(symbols))
    for (SymbolAttr other : symbols.take_front(i))
      if (symbol.getName() == other.getName())
        return emitError() << "C2: the names of symbols must differ; found '" << symbol.getName()
                           << "' twice; rename one";
  SizeOrError parsed = size::parse(std::string_view(text.data(), text.size()),
                                   [&](std::string_view name) -> SymbolRef {
                                     for (SymbolAttr symbol : symbols)
                                       if (symbol.getName() == StringRef(name))
                                         return symbol.getSymbol();
                                     return nullptr;
                                   });
  if (!parsed.error.empty())
    return emitError() << "C1: " << parsed.error;
  return parsed.size;
}

/// Parses `#batch` or `#size.expr<..>`.
ParseResult parseExpr(AsmParser &parser, SmallVectorImpl<ExprAttr> &sizes) {
  Attribute attribute;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseAttribute(attribute))
    return failure();
  if (auto symbol = dyn_cast<SymbolAttr>(attribute))
    attribute = ExprAttr::fromSize(parser.getContext(), Size(symbol.getSymbol()));
  auto size = dyn_cast<ExprAttr>(attribute);
  if (!size)
    return parser.emitError(where) << "required: a size; found: " << attribute
                                   << "; write #size.symbol<..> or #size.expr<..>";
  sizes.push_back(size);
  return success();
}
} // namespace

void SizeDialect::initialize() {
  addInterfaces<SymbolAliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/size/Attrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// SymbolAttr

SymbolAttr SymbolAttr::fromSymbol(MLIRContext *context, const Symbol &symbol) {
  return get(context, symbol.name, formatRange(symbol));
}

SymbolRef SymbolAttr::getSymbol() const { return parseSymbol(getName(), getRange()).symbol; }

Attribute SymbolAttr::parse(AsmParser &parser, Type) {
  std::string name, range;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma() ||
      parser.parseString(&range) || parser.parseGreater())
    return {};
  if (SymbolRef symbol = parseSymbol(name, range).symbol)
    return fromSymbol(parser.getContext(), *symbol);
  return parser.getChecked<SymbolAttr>(where, parser.getContext(), name, range);
}

void SymbolAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getName() << "\", \"" << getRange() << "\">";
}

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name,
                                 StringRef range) {
  SymbolOrError parsed = parseSymbol(std::string_view(name), std::string_view(range));
  if (!parsed.symbol)
    return emitError() << "C1: " << parsed.error;
  if (std::string normal = formatRange(*parsed.symbol); normal != range)
    return emitError() << "C1: the range must be in normal form, here \"" << normal
                       << "\"; found \"" << range << "\"; correct it";
  return success();
}

//===----------------------------------------------------------------------===//
// ExprAttr

ExprAttr ExprAttr::fromSize(MLIRContext *context, const Size &size) {
  assert(size.isValid() && "an invalid size has no attribute");
  std::vector<SymbolRef> used;
  collectSymbols(size, used);
  SmallVector<SymbolAttr> symbols;
  for (const SymbolRef &symbol : used)
    symbols.push_back(SymbolAttr::fromSymbol(context, *symbol));
  return get(context, format(size), symbols);
}

Size ExprAttr::getSize() const {
  // The attribute was verified.
  return *parseSize([]() -> InFlightDiagnostic { llvm_unreachable("a size was verified"); },
                    getText(), getSymbols());
}

Attribute ExprAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SmallVector<SymbolAttr> symbols;
  SMLoc where = parser.getCurrentLocation();
  auto parseOne = [&] { return parser.parseAttribute(symbols.emplace_back()); };
  if (parser.parseLess() || parser.parseString(&text) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  FailureOr<Size> size = parseSize([&] { return parser.emitError(where); }, text, symbols);
  return failed(size) ? Attribute() : fromSize(parser.getContext(), *size);
}

void ExprAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\", [";
  llvm::interleaveComma(getSymbols(), printer,
                        [&](SymbolAttr symbol) { printer.printAttribute(symbol); });
  printer << "]>";
}

LogicalResult ExprAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef text,
                               ArrayRef<SymbolAttr> symbols) {
  FailureOr<Size> size = parseSize(emitError, text, symbols);
  if (failed(size))
    return failure();
  std::vector<SymbolRef> used;
  collectSymbols(*size, used);
  if (format(*size) != text || used.size() != symbols.size())
    return emitError() << "C1: the text must be in normal form, here \"" << format(*size)
                       << "\", with the symbols that it has; found \"" << text << "\"; correct it";
  return success();
}

//===----------------------------------------------------------------------===//
// DimsAttr

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<ExprAttr> sizes;
  Attribute place;
  SMLoc where = parser.getCurrentLocation();
  auto parseOne = [&] { return parseExpr(parser, sizes); };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(place)) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<DimsAttr>(where, parser.getContext(), sizes, place);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getSizes(), printer, [&](ExprAttr size) {
    const bool isSymbol =
        size.getSymbols().size() == 1 && size.getSymbols()[0].getName() == size.getText();
    printer.printAttribute(isSymbol ? Attribute(size.getSymbols()[0]) : Attribute(size));
  });
  printer << "]";
  if (getPlace()) {
    printer << ", ";
    printer.printAttribute(getPlace());
  }
  printer << ">";
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<ExprAttr> sizes, Attribute place) {
  for (ExprAttr size : sizes)
    if (size.getSymbols().empty())
      return emitError() << "C2: the size of a `?` must have a symbol; found \"" << size.getText()
                         << "\"; write the number in the type";
  if (place && (!isa<VerifiableTensorEncoding>(place) || isa<DimsAttr>(place)))
    return emitError() << "C1: the device and layout of a tensor must follow its sizes; found "
                       << place << "; write #dlc.on<..>";
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  const int64_t open = llvm::count_if(shape, ShapedType::isDynamic);
  if (open == int64_t(getSizes().size()) && open > 0)
    return getPlace() ? cast<VerifiableTensorEncoding>(getPlace())
                            .verifyEncoding(shape, elementType, emitError)
                      : success();
  return emitError() << "C1: the encoding must have one size for each `?` of the type, here "
                     << open << "; found " << getSizes().size()
                     << (open ? "; add or remove sizes" : "; remove the sizes");
}

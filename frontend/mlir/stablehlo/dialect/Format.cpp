//===- Format.cpp - custom directives of the stablehlo dialect's syntax --------===//
#include "frontend/mlir/stablehlo/dialect/Format.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace dlc::stablehlo {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Parses a type `T`, which applies to all operands and the result, or a function type with the
/// operand types and one result type.
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc at = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    result = type;
    for (Type *operand : operands)
      *operand = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(at) << "required: " << operands.size()
                                << " operand types and one result type; found: " << function;
  result = function.getResult(0);
  for (auto [i, operand] : llvm::enumerate(operands))
    *operand = function.getInput(unsigned(i));
  return success();
}

static void printTypes(OpAsmPrinter &printer, ArrayRef<Type> operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer << FunctionType::get(result.getContext(), operands, result);
}

ParseResult parseSameTypes(OpAsmParser &parser, Type &operand, Type &result) {
  return parseTypes(parser, {&operand}, result);
}
ParseResult parseSameTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseTypes(parser, {&lhs, &rhs}, result);
}
ParseResult parseSameTypes(OpAsmParser &parser, Type &a, Type &b, Type &c, Type &result) {
  return parseTypes(parser, {&a, &b, &c}, result);
}
void printSameTypes(OpAsmPrinter &printer, Operation *, Type operand, Type result) {
  printTypes(printer, {operand}, result);
}
void printSameTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  printTypes(printer, {lhs, rhs}, result);
}
void printSameTypes(OpAsmPrinter &printer, Operation *, Type a, Type b, Type c, Type result) {
  printTypes(printer, {a, b, c}, result);
}

ParseResult parseSameTypeLists(OpAsmParser &parser, SmallVectorImpl<Type> &operands,
                               SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}
void printSameTypeLists(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &a, Type &b, Type &result) {
  if (parseTypes(parser, {&pred, &a, &b}, result))
    return failure();
  if (succeeded(parser.parseOptionalComma()))
    return parseTypes(parser, {&a, &b}, result);
  return success();
}
void printSelectTypes(OpAsmPrinter &printer, Operation *, Type pred, Type a, Type b, Type result) {
  if (a == b && a == result)
    printer << pred << ", " << result;
  else
    printer << FunctionType::get(result.getContext(), {pred, a, b}, result);
}

//===----------------------------------------------------------------------===//
// Operands and numbers
//===----------------------------------------------------------------------===//

ParseResult parseOperandsThenComma(OpAsmParser &parser, SmallVectorImpl<Unresolved> &operands) {
  while (true) {
    Unresolved operand;
    OptionalParseResult found = parser.parseOptionalOperand(operand);
    if (!found.has_value())
      return success();
    if (failed(*found) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}
void printOperandsThenComma(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleaveComma(operands, printer);
  if (!operands.empty())
    printer << ",";
}

ParseResult parseFloatFormat(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc at = parser.getCurrentLocation();
  StringRef text;
  int32_t exponentBits = 0, mantissaBits = 0;
  if (parser.parseKeyword(&text))
    return failure();
  StringRef rest = text;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) ||
      !rest.consume_front("m") || rest.getAsInteger(10, mantissaBits))
    return parser.emitError(at) << "required: a float format such as e5m10; found: " << text;
  exponent = parser.getBuilder().getI32IntegerAttr(exponentBits);
  mantissa = parser.getBuilder().getI32IntegerAttr(mantissaBits);
  return success();
}
void printFloatFormat(OpAsmPrinter &printer, Operation *, IntegerAttr exponent,
                      IntegerAttr mantissa) {
  printer << "e" << exponent.getInt() << "m" << mantissa.getInt();
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &start,
                             DenseI64ArrayAttr &limit, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> from, to, by;
  auto range = [&]() -> ParseResult {
    by.push_back(1);
    if (parser.parseInteger(from.emplace_back()) || parser.parseColon() ||
        parser.parseInteger(to.emplace_back()))
      return failure();
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(by.back())
                                                  : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, range))
    return failure();
  Builder &builder = parser.getBuilder();
  start = builder.getDenseI64ArrayAttr(from);
  limit = builder.getDenseI64ArrayAttr(to);
  strides = builder.getDenseI64ArrayAttr(by);
  return success();
}
void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr start,
                      DenseI64ArrayAttr limit, DenseI64ArrayAttr strides) {
  printer << "[";
  llvm::interleaveComma(llvm::seq<int64_t>(0, start.size()), printer, [&](int64_t i) {
    printer << start[i] << ":" << limit[i];
    if (strides[i] != 1)
      printer << ":" << strides[i];
  });
  printer << "]";
}

ParseResult parseTarget(OpAsmParser &parser, StringAttr &name) {
  return parser.parseSymbolName(name);
}
void printTarget(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printSymbolName(name);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static ParseResult parseInts(OpAsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

/// Parses pairs of dimension lists such as `[0, 1] x [0, 2]`.
static ParseResult parsePairs(OpAsmParser &parser, SmallVectorImpl<int64_t> &lhs,
                              SmallVectorImpl<int64_t> &rhs) {
  return failure(parseInts(parser, lhs) || parser.parseKeyword("x") || parseInts(parser, rhs));
}

/// Parses a list of precisions such as `[DEFAULT, HIGHEST]`.
static ParseResult parsePrecisions(OpAsmParser &parser, ArrayAttr &precision) {
  SmallVector<Attribute> values;
  auto element = [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<Precision> value = symbolizePrecision(name);
    if (!value)
      return parser.emitError(at) << "required: DEFAULT, HIGH or HIGHEST; found: " << name;
    values.push_back(PrecisionAttr::get(parser.getContext(), *value));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, element))
    return failure();
  precision = parser.getBuilder().getArrayAttr(values);
  return success();
}

static void printPrecisions(OpAsmPrinter &printer, ArrayAttr precision) {
  if (!precision)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(precision, printer, [&](Attribute value) {
    printer << stringifyPrecision(cast<PrecisionAttr>(value).getValue());
  });
  printer << "]";
}

ParseResult parseDotOperand(OpAsmParser &parser, Unresolved &rhs, DotAttr &dims,
                            ArrayAttr &precision, DotAlgorithmAttr &algorithm) {
  SmallVector<int64_t> batch[2], contracting[2];
  if (parser.parseOperand(rhs))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    ParseResult parsed =
        name == "batching_dims"      ? parsePairs(parser, batch[0], batch[1])
        : name == "contracting_dims" ? parsePairs(parser, contracting[0], contracting[1])
        : name == "precision"        ? parsePrecisions(parser, precision)
        : name == "algorithm"
            ? parser.parseCustomAttributeWithFallback(algorithm)
            : ParseResult(parser.emitError(at) << "unknown option '" << name << "'; remove it");
    if (parsed)
      return failure();
  }
  dims = DotAttr::get(parser.getContext(), batch[0], batch[1], contracting[0], contracting[1]);
  return success();
}

void printDotOperand(OpAsmPrinter &printer, Operation *, Value rhs, DotAttr dims,
                     ArrayAttr precision, DotAlgorithmAttr algorithm) {
  printer << rhs;
  if (!dims.getLhsBatching().empty())
    printer << ", batching_dims = [" << dims.getLhsBatching() << "] x [" << dims.getRhsBatching()
            << "]";
  printer << ", contracting_dims = [" << dims.getLhsContracting() << "] x ["
          << dims.getRhsContracting() << "]";
  printPrecisions(printer, precision);
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

ParseResult parseDotOperand(OpAsmParser &parser, Unresolved &rhs, ArrayAttr &precision) {
  if (parser.parseOperand(rhs))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("precision") || parser.parseEqual() ||
                 parsePrecisions(parser, precision));
}
void printDotOperand(OpAsmPrinter &printer, Operation *, Value rhs, ArrayAttr precision) {
  printer << rhs;
  printPrecisions(printer, precision);
}

ParseResult parseConvDimensions(OpAsmParser &parser, ConvDimensionsAttr &dimensions) {
  dimensions = parseConvDimensions(static_cast<AsmParser &>(parser));
  return failure(!dimensions);
}
void printConvDimensions(OpAsmPrinter &printer, Operation *, ConvDimensionsAttr dimensions) {
  printConvDimensions(static_cast<AsmPrinter &>(printer), dimensions);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static ParseResult parseInts(OpAsmParser &parser, DenseI64ArrayAttr &attribute) {
  SmallVector<int64_t> values;
  if (parseInts(parser, values))
    return failure();
  attribute = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

/// Parses padding such as `[[0, 1], [0, 1]]` as an i64 tensor with two columns, low and high.
static ParseResult parsePadding(OpAsmParser &parser, DenseIntElementsAttr &padding) {
  SMLoc at = parser.getCurrentLocation();
  SmallVector<int64_t> values;
  int64_t rows = 0;
  auto row = [&] {
    ++rows;
    return parseInts(parser, values);
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, row))
    return failure();
  if (int64_t(values.size()) != 2 * rows)
    return parser.emitError(at) << "required: pairs of low and high padding";
  auto type = RankedTensorType::get({rows, 2}, parser.getBuilder().getI64Type());
  padding = DenseIntElementsAttr::get(type, values);
  return success();
}

static ParseResult parseBools(OpAsmParser &parser, DenseBoolArrayAttr &attribute) {
  SmallVector<bool> values;
  auto element = [&]() -> ParseResult {
    values.push_back(succeeded(parser.parseOptionalKeyword("true")));
    return values.back() ? ParseResult(success()) : parser.parseKeyword("false");
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, element))
    return failure();
  attribute = parser.getBuilder().getDenseBoolArrayAttr(values);
  return success();
}

ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides,
                        DenseIntElementsAttr &padding, DenseI64ArrayAttr &lhsDilation,
                        DenseI64ArrayAttr &rhsDilation, DenseBoolArrayAttr &reversal) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "stride")
      return parseInts(parser, strides);
    if (name == "pad")
      return parsePadding(parser, padding);
    if (name == "lhs_dilate")
      return parseInts(parser, lhsDilation);
    if (name == "rhs_dilate")
      return parseInts(parser, rhsDilation);
    if (name == "reverse")
      return parseBools(parser, reversal);
    return parser.emitError(at) << "unknown field '" << name << "' of the window; remove it";
  });
}

void printWindow(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides,
                 DenseIntElementsAttr padding, DenseI64ArrayAttr lhsDilation,
                 DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "{";
  auto begin = [&](StringRef name) {
    printer << separator << name << " = [";
    separator = ", ";
  };
  auto ints = [&](StringRef name, DenseI64ArrayAttr values) {
    if (!values)
      return;
    begin(name);
    printer << values.asArrayRef() << "]";
  };
  ints("stride", strides);
  if (padding) {
    begin("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    llvm::interleaveComma(llvm::seq<size_t>(0, values.size() / 2), printer, [&](size_t i) {
      printer << "[" << values[2 * i] << ", " << values[2 * i + 1] << "]";
    });
    printer << "]";
  }
  ints("lhs_dilate", lhsDilation);
  ints("rhs_dilate", rhsDilation);
  if (reversal) {
    begin("reverse");
    llvm::interleaveComma(reversal.asArrayRef(), printer,
                          [&](bool value) { printer << (value ? "true" : "false"); });
    printer << "]";
  }
  printer << (separator == "{" ? "{}" : "}");
}

} // namespace dlc::stablehlo

//===- Attributes.cpp - syntax of the stablehlo dialect's attributes ----------===//
#include "frontend/mlir/stablehlo/dialect/Attributes.h"

#include "llvm/ADT/StringExtras.h"

#include <variant>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

using Dims = SmallVector<int64_t>;

/// A field in the text `<name = value, ..>` of an attribute, with the variable that receives the
/// parsed value.
struct ParsedField {
  StringRef name;
  std::variant<Dims *, int64_t *, bool *, Type *> to;
};

ParseResult parseDims(AsmParser &parser, Dims &dims) {
  dims.clear();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

ParseResult parseBool(AsmParser &parser, bool &value) {
  value = succeeded(parser.parseOptionalKeyword("true"));
  return value ? ParseResult(success()) : parser.parseKeyword("false");
}

ParseResult parseValue(AsmParser &parser, const ParsedField &field) {
  if (auto *dims = std::get_if<Dims *>(&field.to))
    return parseDims(parser, **dims);
  if (auto *number = std::get_if<int64_t *>(&field.to))
    return parser.parseInteger(**number);
  if (auto *flag = std::get_if<bool *>(&field.to))
    return parseBool(parser, **flag);
  return parser.parseType(**std::get_if<Type *>(&field.to));
}

/// Parses the text `<name = value, ..>` of an attribute, with fields in any order. The variables of
/// missing fields keep their values.
ParseResult parseFields(AsmParser &parser, ArrayRef<ParsedField> fields) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const ParsedField *field =
        llvm::find_if(fields, [&](const ParsedField &f) { return f.name == name; });
    if (field == fields.end())
      return parser.emitError(at) << "unknown field '" << name << "' of the attribute; remove it";
    return parseValue(parser, *field);
  });
}

/// A field of an attribute to be printed: its name and its value.
struct PrintedField {
  StringRef name;
  std::variant<ArrayRef<int64_t>, int64_t, bool, Type> value;
};

/// Prints the text `<name = value, ..>` of an attribute. Fields that are empty lists or zeros are
/// omitted.
void printFields(AsmPrinter &printer, ArrayRef<PrintedField> fields) {
  StringRef separator = "<";
  for (const PrintedField &field : fields) {
    auto *dims = std::get_if<ArrayRef<int64_t>>(&field.value);
    auto *number = std::get_if<int64_t>(&field.value);
    if ((dims && dims->empty()) || (number && *number == 0))
      continue;
    printer << separator << field.name << " = ";
    separator = ", ";
    if (dims)
      printer << "[" << *dims << "]";
    else if (number)
      printer << *number;
    else if (auto *flag = std::get_if<bool>(&field.value))
      printer << (*flag ? "true" : "false");
    else
      printer << std::get<Type>(field.value);
  }
  printer << (separator == "<" ? "<>" : ">");
}

} // namespace

//===----------------------------------------------------------------------===//
// dot, gather, scatter
//===----------------------------------------------------------------------===//

Attribute DotAttr::parse(AsmParser &parser, Type) {
  Dims lhsBatching, rhsBatching, lhs, rhs;
  if (parseFields(parser, {{"lhs_batching_dimensions", &lhsBatching},
                           {"rhs_batching_dimensions", &rhsBatching},
                           {"lhs_contracting_dimensions", &lhs},
                           {"rhs_contracting_dimensions", &rhs}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhs, rhs);
}

void DotAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"lhs_batching_dimensions", getLhsBatching()},
                        {"rhs_batching_dimensions", getRhsBatching()},
                        {"lhs_contracting_dimensions", getLhsContracting()},
                        {"rhs_contracting_dimensions", getRhsContracting()}});
}

Attribute GatherDimensionsAttr::parse(AsmParser &parser, Type) {
  Dims offset, collapsed, operandBatching, indicesBatching, map;
  int64_t vector = 0;
  if (parseFields(parser, {{"offset_dims", &offset},
                           {"collapsed_slice_dims", &collapsed},
                           {"operand_batching_dims", &operandBatching},
                           {"start_indices_batching_dims", &indicesBatching},
                           {"start_index_map", &map},
                           {"index_vector_dim", &vector}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, map, vector);
}

void GatherDimensionsAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"offset_dims", getOffsetDims()},
                        {"collapsed_slice_dims", getCollapsedSliceDims()},
                        {"operand_batching_dims", getOperandBatchingDims()},
                        {"start_indices_batching_dims", getStartIndicesBatchingDims()},
                        {"start_index_map", getStartIndexMap()},
                        {"index_vector_dim", getIndexVectorDim()}});
}

Attribute ScatterDimensionsAttr::parse(AsmParser &parser, Type) {
  Dims window, inserted, inputBatching, indicesBatching, map;
  int64_t vector = 0;
  if (parseFields(parser, {{"update_window_dims", &window},
                           {"inserted_window_dims", &inserted},
                           {"input_batching_dims", &inputBatching},
                           {"scatter_indices_batching_dims", &indicesBatching},
                           {"scatter_dims_to_operand_dims", &map},
                           {"index_vector_dim", &vector}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatching, indicesBatching, map, vector);
}

void ScatterDimensionsAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"update_window_dims", getUpdateWindowDims()},
                        {"inserted_window_dims", getInsertedWindowDims()},
                        {"input_batching_dims", getInputBatchingDims()},
                        {"scatter_indices_batching_dims", getScatterIndicesBatchingDims()},
                        {"scatter_dims_to_operand_dims", getScatterDimsToOperandDims()},
                        {"index_vector_dim", getIndexVectorDim()}});
}

//===----------------------------------------------------------------------===//
// conv
//===----------------------------------------------------------------------===//

/// Parses dimension numbers such as `[b, 0, 1, f]`: the positions of the two lettered dimensions
/// and of the numbered spatial dimensions.
static ParseResult parseLetters(AsmParser &parser, StringRef firstLetter, int64_t &first,
                                StringRef secondLetter, int64_t &second, Dims &spatial) {
  SMLoc at = parser.getCurrentLocation();
  first = second = -1;
  int64_t position = 0;
  SmallVector<std::pair<int64_t, int64_t>> numbered;
  auto element = [&]() -> ParseResult {
    const int64_t here = position++;
    if (succeeded(parser.parseOptionalKeyword(firstLetter)))
      return first = here, success();
    if (succeeded(parser.parseOptionalKeyword(secondLetter)))
      return second = here, success();
    numbered.push_back({0, here});
    return parser.parseInteger(numbered.back().first);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, element))
    return failure();
  spatial.assign(numbered.size(), -1);
  for (auto [number, here] : numbered)
    if (number >= 0 && number < int64_t(spatial.size()))
      spatial[number] = here;
  if (first < 0 || second < 0 || llvm::is_contained(spatial, -1))
    return parser.emitError(at) << "required: '" << firstLetter << "', '" << secondLetter
                                << "' and each spatial dimension once; found another list";
  return success();
}

static void printLetters(AsmPrinter &printer, StringRef firstLetter, int64_t first,
                         StringRef secondLetter, int64_t second, ArrayRef<int64_t> spatial) {
  SmallVector<std::string> names(spatial.size() + 2);
  names[first] = firstLetter;
  names[second] = secondLetter;
  for (auto [number, position] : llvm::enumerate(spatial))
    names[position] = std::to_string(number);
  printer << "[" << llvm::join(names, ", ") << "]";
}

ConvDimensionsAttr parseConvDimensions(AsmParser &parser) {
  int64_t inBatch, inFeature, kernelIn, kernelOut, outBatch, outFeature;
  Dims in, kernel, out;
  if (parseLetters(parser, "b", inBatch, "f", inFeature, in) || parser.parseKeyword("x") ||
      parseLetters(parser, "i", kernelIn, "o", kernelOut, kernel) || parser.parseArrow() ||
      parseLetters(parser, "b", outBatch, "f", outFeature, out))
    return {};
  return ConvDimensionsAttr::get(parser.getContext(), inBatch, inFeature, in, kernelIn, kernelOut,
                                 kernel, outBatch, outFeature, out);
}

void printConvDimensions(AsmPrinter &printer, ConvDimensionsAttr d) {
  printLetters(printer, "b", d.getInputBatch(), "f", d.getInputFeature(), d.getInputSpatial());
  printer << "x";
  printLetters(printer, "i", d.getKernelInputFeature(), "o", d.getKernelOutputFeature(),
               d.getKernelSpatial());
  printer << "->";
  printLetters(printer, "b", d.getOutputBatch(), "f", d.getOutputFeature(), d.getOutputSpatial());
}

Attribute ConvDimensionsAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  ConvDimensionsAttr result = parseConvDimensions(parser);
  return result && succeeded(parser.parseGreater()) ? result : ConvDimensionsAttr();
}

void ConvDimensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printConvDimensions(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Other attributes
//===----------------------------------------------------------------------===//

Attribute ChannelHandleAttr::parse(AsmParser &parser, Type) {
  int64_t handle = 0, type = 0;
  if (parseFields(parser, {{"handle", &handle}, {"type", &type}}))
    return {};
  return get(parser.getContext(), handle, type);
}

void ChannelHandleAttr::print(AsmPrinter &printer) const {
  printer << "<handle = " << getHandle() << ", type = " << getType() << ">";
}

Attribute OutputOperandAliasAttr::parse(AsmParser &parser, Type) {
  Dims outputs, operands;
  int64_t index = 0;
  if (parseFields(parser, {{"output_tuple_indices", &outputs},
                           {"operand_index", &index},
                           {"operand_tuple_indices", &operands}}))
    return {};
  return get(parser.getContext(), outputs, index, operands);
}

void OutputOperandAliasAttr::print(AsmPrinter &printer) const {
  printer << "<output_tuple_indices = [" << getOutputTupleIndices()
          << "], operand_index = " << getOperandIndex() << ", operand_tuple_indices = ["
          << getOperandTupleIndices() << "]>";
}

Attribute DotAlgorithmAttr::parse(AsmParser &parser, Type) {
  Type lhs, rhs, sum;
  int64_t lhsCount = 1, rhsCount = 1, operations = 1;
  bool imprecise = false;
  if (parseFields(parser, {{"lhs_precision_type", &lhs},
                           {"rhs_precision_type", &rhs},
                           {"accumulation_type", &sum},
                           {"lhs_component_count", &lhsCount},
                           {"rhs_component_count", &rhsCount},
                           {"num_primitive_operations", &operations},
                           {"allow_imprecise_accumulation", &imprecise}}))
    return {};
  if (!lhs || !rhs || !sum) {
    parser.emitError(parser.getNameLoc())
        << "required: lhs_precision_type, rhs_precision_type and accumulation_type";
    return {};
  }
  return get(parser.getContext(), lhs, rhs, sum, lhsCount, rhsCount, operations, imprecise);
}

void DotAlgorithmAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"lhs_precision_type", getLhsPrecisionType()},
                        {"rhs_precision_type", getRhsPrecisionType()},
                        {"accumulation_type", getAccumulationType()},
                        {"lhs_component_count", getLhsComponentCount()},
                        {"rhs_component_count", getRhsComponentCount()},
                        {"num_primitive_operations", getNumPrimitiveOperations()},
                        {"allow_imprecise_accumulation", getAllowImpreciseAccumulation()}});
}

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  Dims bounds;
  auto element = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion()))
      return bounds.push_back(ShapedType::kDynamic), success();
    return parser.parseInteger(bounds.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, element))
    return {};
  return get(parser.getContext(), bounds);
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getBounds(), printer.getStream(), [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << "?";
    else
      printer << bound;
  });
  printer << ">";
}

} // namespace dlc::stablehlo

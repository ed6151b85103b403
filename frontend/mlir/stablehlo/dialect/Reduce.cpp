//===- Reduce.cpp - operations of Reduce.td and the syntax of reduce -----------===//
#include "frontend/mlir/stablehlo/dialect/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Reduce.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Reduce.cpp.inc"

namespace dlc::stablehlo {

void StablehloDialect::registerReduce() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Reduce.cpp.inc"
      >();
}

namespace {

/// Parses the inputs and initial values of a reduce: `(%x init: %init), (%y init: %other)`.
ParseResult parseInputs(OpAsmParser &parser, SmallVectorImpl<Unresolved> &inputs,
                        SmallVectorImpl<Unresolved> &inits) {
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// Builds the region of the short form `applies NAME`: the named binary operation on the two
/// arguments.
void addReducerRegion(OpAsmParser &parser, OperationState &state, OperationName name, Type input) {
  auto tensor = dyn_cast<ShapedType>(input);
  Type element = tensor ? RankedTensorType::get({}, tensor.getElementType()) : input;
  Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
  Block &block = state.addRegion()->emplaceBlock();
  block.addArguments({element, element}, {loc, loc});
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&block);
  OperationState inner(loc, name);
  inner.addOperands(block.getArguments());
  inner.addTypes(element);
  Value result = builder.create(inner)->getResult(0);
  OperationState end(loc, "stablehlo.return");
  end.addOperands(result);
  builder.create(end);
}

/// Parses the long form of a reduce region: `reducer(%a: T, %b: T) (%c: U, %d: U) { .. }`. The
/// arguments of the block are a, c, b, d.
ParseResult parseReducer(OpAsmParser &parser, OperationState &state, size_t inputs) {
  SmallVector<OpAsmParser::Argument> left, right;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (size_t i = 0; i < inputs; ++i)
    if (parser.parseLParen() || parser.parseArgument(left.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(right.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  left.append(right);
  std::optional<Location> loc;
  if (parser.parseOptionalLocationSpecifier(loc))
    return failure();
  return parser.parseRegion(*state.addRegion(), left);
}

/// If the region only applies one operation to its two arguments, returns the operation. Returns
/// null otherwise.
Operation *getReducerOperation(ReduceOp op) {
  Block &block = op.getBody().front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  Operation &first = block.front(), &last = block.back();
  bool isPlain = first.getNumResults() == 1 && first.getAttrs().empty() &&
                 first.getNumRegions() == 0 &&
                 llvm::equal(first.getOperands(), block.getArguments()) &&
                 llvm::equal(last.getOperands(), first.getResults());
  return isPlain ? &first : nullptr;
}

} // namespace

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<Unresolved> operands, inits;
  SMLoc at = parser.getCurrentLocation();
  std::optional<OperationName> applied;
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parseInputs(parser, operands, inits))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    applied = *name;
  }
  auto integer = [&] { return parser.parseInteger(dimensions.emplace_back()); };
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, integer) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  const size_t inputs = operands.size();
  operands.append(inits);
  state.addAttribute("dimensions", parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  state.addTypes(type.getResults());
  if (parser.resolveOperands(operands, type.getInputs(), at, state.operands))
    return failure();
  if (!applied)
    return parseReducer(parser, state, inputs);
  addReducerRegion(parser, state, *applied, type.getInput(0));
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  const size_t inputs = getInputs().size();
  printer << "(";
  llvm::interleave(
      llvm::seq<size_t>(0, inputs), printer,
      [&](size_t i) { printer << getInputs()[i] << " init: " << getInitValues()[i]; }, "), (");
  printer << ")";
  Operation *applied = getReducerOperation(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = [" << getDimensions() << "]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  Block &block = getBody().front();
  printer.printNewline();
  printer << " reducer";
  for (size_t i = 0; i < inputs && inputs + i < block.getNumArguments(); ++i) {
    printer << "(";
    printer.printRegionArgument(block.getArgument(unsigned(i)));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(unsigned(inputs + i)));
    printer << ") ";
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace dlc::stablehlo

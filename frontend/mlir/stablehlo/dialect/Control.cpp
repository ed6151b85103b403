//===- Control.cpp - operations of Control.td and the syntax of while ----------===//
#include "frontend/mlir/stablehlo/dialect/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Control.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Control.cpp.inc"

namespace dlc::stablehlo {

void StablehloDialect::registerControl() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Control.cpp.inc"
      >();
}

/// Parses a while loop: `(%arg = %init, ..) : types attributes {..} cond { .. } do { .. }`.
ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Unresolved> inits;
  SMLoc at = parser.getCurrentLocation();
  auto pair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(inits.emplace_back()));
  };
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen, pair) ||
      (!inits.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(inits, types, at, state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  state.addTypes(types);
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseKeyword("do") || parser.parseRegion(*state.addRegion(), arguments));
}

void WhileOp::print(OpAsmPrinter &printer) {
  // The arguments of both blocks are printed with the same names, which do not clash in sibling
  // regions.
  Block &cond = getCond().front();
  printer << "(";
  llvm::interleaveComma(llvm::zip(cond.getArguments(), getOperand()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ")";
  if (!getOperand().empty())
    printer << " : " << getOperand().getTypes();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

} // namespace dlc::stablehlo

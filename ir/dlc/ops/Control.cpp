//===- Control.cpp - branches, loops and fused regions --------------------===//
#include "ir/dlc/Infer.h"
#include "ir/dlc/Matchers.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dlc;

#define GET_OP_CLASSES
#include "ir/dlc/Control.cpp.inc"

void DlcDialect::registerControl() {
  addOperations<
#define GET_OP_LIST
#include "ir/dlc/Control.cpp.inc"
      >();
}

namespace {
YieldOp terminatorOf(Region &region) { return cast<YieldOp>(region.front().getTerminator()); }

/// Returns the terminator `dlc.yield` of the region. Fails if the last operation is another one:
/// MLIR verifies an operation before its regions.
FailureOr<YieldOp> checkYield(Operation *op, Region &region) {
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError("must have regions that end with dlc.yield; add one");
  for (Type type : yield.getOperandTypes())
    if (!isa<RankedTensorType>(type))
      return op->emitOpError("must yield ranked tensors; found ") << type;
  return yield;
}

bool isScalar(Type type, unsigned width) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isSignlessInteger(width);
}
} // namespace

// Builds the implicit terminator of a region that yields no values.
void YieldOp::build(OpBuilder &, OperationState &) {}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  RankedTensorType condition = getCondition().getType();
  if (condition.hasStaticShape() && countElements(condition.getShape()) != 1)
    return emitOpError() << "C1: the condition must have one element; found "
                         << shapeText(condition.getShape()) << "; slice or reduce it";
  for (auto [region, name] :
       {std::pair<Region *, StringRef>{&getThenRegion(), "then"}, {&getElseRegion(), "else"}}) {
    FailureOr<YieldOp> yield = checkYield(*this, *region);
    if (failed(yield))
      return failure();
    TypeRange yielded = yield->getOperandTypes();
    if (!areCompatible(yielded, getResultTypes()))
      return emitOpError() << "C2: both regions must yield the result types (" << getResultTypes()
                           << "); found (" << yielded << ") in the " << name
                           << " region; correct the yield";
  }
  return success();
}

namespace {
/// Folds `if (constant) a else b`: inlines the operations of the taken region.
struct TakeConstantBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    double condition;
    if (!isSplat(op.getCondition(), condition))
      return failure();
    Region &taken = condition != 0 ? op.getThenRegion() : op.getElseRegion();
    YieldOp yield = terminatorOf(taken);
    // The `if` is not replaced if the yielded types differ from its result types, for example if a
    // yielded type is more static.
    if (yield.getOperandTypes() != op.getResultTypes())
      return failure();
    SmallVector<Value> values(yield.getValues());
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&taken.front(), op);
    rewriter.replaceOp(op, values);
    return success();
  }
};
} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeConstantBranch>(context);
}

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

LogicalResult LoopOp::verify() {
  if (!getTrip() && !getCondition())
    return emitOpError()
           << "C1: required: a trip count or a condition; found none; add one of them";
  if (getTrip() && !isScalar(getTrip().getType(), 64))
    return emitOpError() << "C1: the trip count must be a 0-d i64; found " << getTrip().getType()
                         << "; reshape or cast it";
  if (getCondition() && !isScalar(getCondition().getType(), 1))
    return emitOpError() << "C1: the condition must be a 0-d bool; found "
                         << getCondition().getType() << "; reshape or cast it";

  Block &body = getBody().front();
  size_t carried = getInits().size();
  if (body.getNumArguments() != carried + 1)
    return emitOpError() << "C2: the region must take the iteration number and " << carried
                         << " carried values; found " << body.getNumArguments()
                         << " arguments; correct its arguments";
  if (!isScalar(body.getArgument(0).getType(), 64))
    return emitOpError() << "C2: the region's first argument must be a 0-d i64; found "
                         << body.getArgument(0).getType();
  FailureOr<YieldOp> yield = checkYield(*this, getBody());
  if (failed(yield))
    return failure();
  SmallVector<Type> yielded(yield->getOperandTypes());
  if (getCondition()) {
    if (yielded.empty() || !isScalar(yielded.front(), 1))
      return emitOpError()
             << "C2: the region must yield the next condition, a 0-d bool, first; found ("
             << TypeRange(yielded) << "); correct the yield";
    yielded.erase(yielded.begin());
  }
  if (yielded.size() < carried || yielded.size() != getNumResults())
    return emitOpError() << "C2: the region must yield one value per result and at least the "
                         << carried << " carried ones; found " << yielded.size() << " values and "
                         << getNumResults() << " results; correct the yield";
  for (size_t i = 0; i < carried; ++i) {
    Type result = getResult(i).getType();
    std::pair<StringRef, Type> others[] = {{"initial value", getInits()[i].getType()},
                                           {"region argument", body.getArgument(i + 1).getType()},
                                           {"yielded value", yielded[i]}};
    for (auto [what, type] : others)
      if (!areCompatible(type, result))
        return emitOpError() << "C2: carried value " << i
                             << " must have the same type everywhere; its result is " << result
                             << ", its " << what << " is " << type << "; correct one of them";
  }

  if (yielded.size() == carried)
    return success();
  if (!getTrip() || getCondition())
    return emitOpError() << "C3: stacked results need a trip count and no condition; drop the "
                            "condition, or carry the values";
  double number;
  int64_t trips =
      isSplat(getTrip(), number) ? std::max<int64_t>(int64_t(number), 0) : ShapedType::kDynamic;
  for (size_t i = carried; i < yielded.size(); ++i) {
    auto part = cast<RankedTensorType>(yielded[i]);
    if (part.getRank() == 0 && ref::isPackedElement(part.getElementType()))
      return emitOpError()
             << "C4: 4-bit integers are stacked as rows; required: a rank of 1 or more; "
                "found "
             << part << "; cast it to 8 bits";
    SmallVector<int64_t> shape{trips};
    llvm::append_range(shape, part.getShape());
    OnAttr place = getPlace(part);
    Type stacked =
        RankedTensorType::get(shape, part.getElementType(), place ? place.withLayout("") : place);
    if (!areCompatible(stacked, getResult(i).getType()))
      return emitOpError() << "C3: stacked result " << i << " must be " << stacked << "; found "
                           << getResult(i).getType() << "; correct the result type";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// fusion
//===----------------------------------------------------------------------===//

LogicalResult FusionOp::verify() {
  TypeRange arguments = getBody().getArgumentTypes();
  if (arguments != getOperandTypes())
    return emitOpError() << "C1: the block arguments must have the operands' types ("
                         << getOperandTypes() << "); found (" << arguments
                         << "); correct the arguments";
  FailureOr<YieldOp> yield = checkYield(*this, getBody());
  if (failed(yield))
    return failure();
  TypeRange yielded = yield->getOperandTypes();
  if (yielded != TypeRange(getResultTypes()))
    return emitOpError() << "C2: the body must yield the result types (" << getResultTypes()
                         << "); found (" << yielded << "); correct the yield";
  return success();
}

/// Parses `(%a = %x, %b = %y) : (types) -> (types) attributes {..} { .. }`.
ParseResult FusionOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc where = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  FunctionType type;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePair) ||
      parser.parseColonType(type) || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, type.getInputs(), where, result.operands))
    return failure();
  for (auto [argument, input] : llvm::zip_equal(arguments, type.getInputs()))
    argument.type = input;
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void FusionOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ") : ";
  printer.printFunctionalType(getOperation());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

//===- Importer.cpp - imports blocks and calls of StableHLO modules ------------===//
#include "frontend/mlir/stablehlo/Importer.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

bool isSupportedElementType(Type type) {
  if (type.isF32() || type.isF64() || type.isF16() || type.isBF16() || type.isSignlessInteger(1))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned() &&
         llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return text;
}

/// Reports an error unless the type is a static tensor with an element type that dlc supports.
/// `what` names the value in the message.
bool checkType(Build &b, Type type, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!b.require(bool(tensor), what + ": required: a ranked tensor; found: " + formatType(type)))
    return false;
  if (!b.require(isSupportedElementType(tensor.getElementType()),
                 what +
                     ": required: elements of f16, bf16, f32, f64, bool or an integer of 8 to "
                     "64 bits; found: " +
                     formatType(type) + "; convert the value before"))
    return false;
  return b.require(tensor.hasStaticShape(),
                   what + ": required: a static shape; found: " + formatType(type) +
                       "; lower the function for arguments of known shapes");
}

/// Returns the source line in a named location, such as ` (model.py:12)`, which JAX writes. Returns
/// an empty string for other locations.
std::string sourceLine(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    auto range = dyn_cast<FileLineColRange>(named.getChildLoc());
    return range
               ? " (" + range.getFilename().str() + ":" + std::to_string(range.getStartLine()) + ")"
               : sourceLine(named.getChildLoc());
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return sourceLine(call.getCallee());
  return "";
}

/// Returns the reason why an operation of that name is not imported, with a hint.
std::string explainUnsupportedOp(StringRef name) {
  if (name.starts_with("stablehlo.dynamic_") || name == "stablehlo.real_dynamic_slice" ||
      name == "stablehlo.set_dimension_size")
    return "operations with sizes known only at run time are not supported; lower the function for "
           "arguments of known shapes";
  if (name.starts_with("stablehlo.") || name.starts_with("chlo."))
    return "dlc does not import this operation yet; required: an operation of "
           "docs/reference/stablehlo.md; rewrite the function without it";
  return "required: operations of stablehlo, chlo and func; found an operation of another dialect; "
         "convert the module to StableHLO";
}

} // namespace

Value Importer::find(Value value) {
  if (Value found = values.lookup(value))
    return found;
  if (!outer)
    return {};
  // A region that is evaluated may use values from outside of it only if they are constants.
  Value before = outer->find(value);
  auto known = before ? outer->b.known(before) : std::nullopt;
  return known ? b.constant(*known) : Value();
}

bool Importer::operands(Operation &op, Values &result) {
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    result.push_back(find(operand));
    if (!b.require(bool(result.back()), "operand " + Twine(i) + ": required: a tensor; found: " +
                                            formatType(operand.getType())))
      return false;
  }
  return true;
}

bool Importer::checkResults(Node &n) {
  for (unsigned i = 0; i < n.outs.size() && b.ok(); ++i) {
    Value built = n.outs[i];
    // When a region is evaluated, tensors hold many samples of a scalar, so their shapes differ
    // from the declared types.
    if (!built || (!outer && built.getType() != n.op->getResult(i).getType()))
      b.error("result " + Twine(i) + ": required: " + formatType(n.op->getResult(i).getType()) +
              ", as the module says; found: " + (built ? formatType(built.getType()) : "nothing") +
              "; correct the operation's attributes or types");
  }
  return b.ok();
}

bool Importer::operation(Operation &op) {
  StringRef name = op.getName().getStringRef();
  std::string line = sourceLine(op.getLoc());
  b.setNode(op.getLoc(), "'" + name.str() + "'" + (line.empty() ? callLine : line) + ": ");
  Handler handler = findHandler(name);
  if (!b.require(handler, explainUnsupportedOp(name)))
    return false;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (!checkType(b, result.getType(), "result " + Twine(i)))
      return false;
  Values ins;
  if (!operands(op, ins))
    return false;
  Node node(*this, b, &op, std::move(ins));
  handler(node, b);
  if (!b.ok() || !checkResults(node))
    return false;
  for (auto [result, value] : llvm::zip(op.getResults(), node.outs))
    values[result] = value;
  return true;
}

bool Importer::block(Block &block, ArrayRef<Value> arguments, Values &results) {
  if (!b.require(block.getNumArguments() == arguments.size(),
                 "required: a region of " + Twine(arguments.size()) +
                     " arguments; found: " + Twine(block.getNumArguments())) ||
      !b.require(block.mightHaveTerminator(), "required: a region with a terminator"))
    return false;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : block.without_terminator())
    if (!operation(op))
      return false;
  return operands(*block.getTerminator(), results);
}

bool Importer::call(StringRef callee, ArrayRef<Value> arguments, Values &results) {
  auto function = source.lookupSymbol<func::FuncOp>(callee);
  if (!function && outer)
    return b.require(false, "calls are not evaluated");
  if (!b.require(function && !function.isExternal(),
                 "required: a function @" + callee + " with a body; found none"))
    return false;
  if (!b.require(!llvm::is_contained(active, function),
                 "@" + callee + " calls itself; required: functions without recursion; use a loop"))
    return false;
  if (!b.require(function.getBody().hasOneBlock(),
                 "@" + callee + ": required: a body of one block; found several"))
    return false;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!checkType(b, type, "argument " + Twine(i) + " of @" + callee))
      return false;
  active.push_back(function);
  std::string outerLine = callLine, line = sourceLine(b.getLoc());
  if (!line.empty())
    callLine = line;
  // Each call maps values separately, because function bodies do not use values from outside.
  auto saved = std::exchange(values, llvm::DenseMap<Value, Value>());
  bool good = block(function.getBody().front(), arguments, results);
  values = std::move(saved);
  active.pop_back();
  callLine = outerLine;
  return good;
}

std::optional<std::vector<ref::Tensor>> Importer::evaluate(Region &region,
                                                           ArrayRef<ref::Tensor> arguments) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(b.getLoc());
  Build probe(b.context, scratch->getBody());
  probe.silent = true;
  Importer inner(probe, source);
  inner.outer = this;
  Values ins, outs;
  for (const ref::Tensor &argument : arguments)
    ins.push_back(probe.constant(argument));
  if (!inner.block(region.front(), ins, outs))
    return std::nullopt;
  std::vector<ref::Tensor> results;
  for (Value out : outs) {
    auto known = probe.known(out);
    if (!known)
      return std::nullopt;
    results.push_back(*known);
  }
  return results;
}

} // namespace dlc::stablehlo

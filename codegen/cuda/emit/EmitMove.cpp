//===- EmitMove.cpp - constants, operations that move elements, random numbers ---===//
#include "codegen/cuda/emit/Emitter.h"

using namespace mlir;

namespace dlc::cuda {

std::string Emitter::constant(ConstantOp op, const Indices &at) {
  auto tensor = ref::Tensor::fromAttr(op.getValue());
  assert(succeeded(tensor) && "constants in fusions are small and dense");
  Type element = elementOf(op.getY());
  if (tensor->size() == 1 || op.getValue().isSplat())
    return formatElementLiteral(element, *tensor, 0);
  Expr offset = x.linear(shapeOf(op.getY()), at);
  if (offset.isConstant())
    return formatElementLiteral(element, *tensor, offset.constant);
  std::string key = "table " + std::to_string(uintptr_t(op.getOperation()));
  std::string &name = scopes.front()[key];
  if (name.empty()) {
    name = t.fresh(tablePrefix + "_table");
    tables += "static __device__ const " + getComputeTypeName(element) + " " + name + "[" +
              std::to_string(tensor->size()) + "] = {";
    for (int64_t i = 0; i < tensor->size(); ++i) {
      // A static initializer must be a constant expression, so NaN and infinities are written as
      // compiler builtins.
      bool odd = isFloat(element) && !std::isfinite(tensor->getDouble(i));
      double value = odd ? tensor->getDouble(i) : 0;
      std::string text = !odd             ? formatElementLiteral(element, *tensor, i)
                         : value != value ? "__builtin_nanf(\"\")"
                         : value > 0      ? "__builtin_inff()"
                                          : "-__builtin_inff()";
      tables += (i ? ", " : "") + text;
    }
    tables += "};\n";
  }
  return let(getComputeTypeName(element), name + "[" + offset.text() + "]");
}

std::string Emitter::move(Operation *op, const Indices &at) {
  SmallVector<OperandRead, 2> reads = readsOf(op, at);
  auto element = [&](const OperandRead &read) {
    return eval(op->getOperand(read.operand), read.at);
  };
  if (reads.size() == 1)
    return element(reads.front());
  // Initializer of the result variable: the last read if it is a scalar, such as the value of a
  // pad. It needs no condition, because the other reads overwrite the variable if their conditions
  // hold.
  std::string scalar;
  if (reads.back().at.empty())
    scalar = " = " + element(reads.pop_back_val());
  std::string result = t.fresh("v");
  t.line(getComputeTypeName(elementOf(op->getResult(0))) + " " + result + scalar + ";");
  ++conditions;
  for (auto [n, read] : llvm::enumerate(reads)) {
    std::string condition = llvm::join(conditionsOf(read), " && ");
    if (n == 0)
      t.open("if (" + condition + ")");
    else
      t.turn(condition.empty() ? "} else {" : "} else if (" + condition + ") {");
    pushScope();
    t.line(result + " = " + element(read) + ";");
    popScope();
  }
  t.close();
  --conditions;
  return result;
}

std::string Emitter::random(RandomOp op, const Indices &at) {
  Type element = elementOf(op.getY());
  Expr offset = x.linear(shapeOf(op.getY()), at);
  std::string counter = eval(op.getCounter(), {});
  // Four consecutive elements share one block of random words (Philox).
  std::string block = x.divide(offset, 4).text(), seed = std::to_string(op.getSeed());
  std::string words = let("dk::random_words", "dk::philox((unsigned long long)" + block + ", " +
                                                  counter + ", " + seed + "ull)");
  std::string which = x.remainder(offset, 4).text();
  if (op.getKind() == RandomKind::normal)
    return let(getComputeTypeName(element),
               std::string(element.isF64() ? "dk::normal_f64(" : "dk::normal(") + words + ", " +
                   which + ")");
  int bits = element.isF16() ? 11 : element.isBF16() ? 8 : 24;
  return let(getComputeTypeName(element),
             "dk::uniform<" + std::to_string(bits) + ">(" + words + ", " + which + ")");
}

} // namespace dlc::cuda

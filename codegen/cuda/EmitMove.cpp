//===- EmitMove.cpp - constants, concatenation, padding, gathers, random numbers ===//
#include "codegen/cuda/Emitter.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

std::string Emitter::constant(ConstantOp op, const Indices &at) {
  auto tensor = ref::Tensor::fromAttr(op.getValue());
  assert(succeeded(tensor) && "constants in fusions are small and dense");
  Type element = elementOf(op.getY());
  if (tensor->size() == 1 || op.getValue().isSplat())
    return literalOf(element, *tensor, 0);
  Expr offset = linear(shapeOf(op.getY()), at);
  if (offset.isConstant())
    return literalOf(element, *tensor, offset.constant);
  std::string key = "table " + std::to_string(uintptr_t(op.getOperation()));
  std::string &name = scopes.front()[key];
  if (name.empty()) {
    name = t.fresh(tablePrefix + "_table");
    tables += "static __device__ const " + computeName(element) + " " + name + "[" +
              std::to_string(tensor->size()) + "] = {";
    for (int64_t i = 0; i < tensor->size(); ++i) {
      // A constant initialiser calls nothing.
      bool odd = isFloat(element) && !std::isfinite(tensor->getDouble(i));
      double value = odd ? tensor->getDouble(i) : 0;
      std::string text = !odd             ? literalOf(element, *tensor, i)
                         : value != value ? "__builtin_nanf(\"\")"
                         : value > 0      ? "__builtin_inff()"
                                          : "-__builtin_inff()";
      tables += (i ? ", " : "") + text;
    }
    tables += "};\n";
  }
  return let(computeName(element), name + "[" + offset.text() + "]");
}

std::string Emitter::concat(ConcatOp op, const Indices &at) {
  int64_t axis = op.getAxis(), start = 0;
  const Expr &i = at[axis];
  std::string result = t.fresh("v");
  t.line(computeName(elementOf(op.getY())) + " " + result + ";");
  ++conditions;
  bool open = false;
  SmallVector<std::pair<Value, int64_t>> parts;
  for (Value part : op.getXs()) {
    int64_t size = shapeOf(part)[axis];
    if (size > 0 && i.low() < start + size && i.high() >= start)
      parts.push_back({part, start});
    start += size;
  }
  for (auto [n, part] : llvm::enumerate(parts)) {
    auto [value, from] = part;
    std::string condition = i.text() + " < " + std::to_string(from + shapeOf(value)[axis]);
    bool last = n + 1 == parts.size();
    if (!open)
      t.open(last ? Twine("") : "if (" + Twine(condition) + ")");
    else
      t.turn(last ? "} else {" : "} else if (" + condition + ") {");
    open = true;
    pushScope();
    Indices inner = at;
    inner[axis] = i - Expr(from);
    t.line(result + " = " + eval(value, inner) + ";");
    popScope();
  }
  t.close();
  --conditions;
  return result;
}

std::string Emitter::pad(PadOp op, const Indices &at) {
  auto shape = shapeOf(op.getX());
  Indices from;
  SmallVector<std::string> inside;
  bool constantMode = op.getMode() == PadMode::constant;
  for (auto [d, i] : llvm::enumerate(at)) {
    int64_t size = shape[d], low = op.getLow()[d], high = op.getHigh()[d];
    Expr shifted = i - Expr(low);
    if (constantMode) {
      within(shifted, size, inside);
      from.push_back(shifted);
      continue;
    }
    if (low <= 0 && high <= 0) {
      from.push_back(shifted);
      continue;
    }
    if (size == 1) {
      from.push_back(0);
      continue;
    }
    switch (op.getMode()) {
    case PadMode::edge:
      from.push_back(variable(
          "i", "dk::clamp<" + indexType + ">(" + shifted.text() + ", " + std::to_string(size) + ")",
          0, size - 1));
      break;
    case PadMode::wrap: {
      int64_t periods = (std::max<int64_t>(low, 0) + size - 1) / size;
      from.push_back(x.remainder(shifted + Expr(periods * size), size));
      break;
    }
    default: {
      // Positions repeat with period 2 (size - 1); its second half is the first one mirrored.
      int64_t period = 2 * (size - 1);
      int64_t periods = (std::max<int64_t>(low, 0) + period - 1) / period;
      Expr m = x.remainder(shifted + Expr(periods * period), period);
      from.push_back(variable(
          "i", "dk::mirror<" + indexType + ">(" + m.text() + ", " + std::to_string(period) + ")", 0,
          size - 1));
    }
    }
  }
  if (llvm::is_contained(shape, 0))
    return eval(op.getValue(), {});
  if (inside.empty())
    return eval(op.getX(), from);
  std::string padding = eval(op.getValue(), {});
  std::string result = t.fresh("v");
  t.line(computeName(elementOf(op.getY())) + " " + result + " = " + padding + ";");
  guarded(inside, [&] { t.line(result + " = " + eval(op.getX(), from) + ";"); });
  return result;
}

std::string Emitter::gather(Operation *op, const Indices &at) {
  auto shape = shapeOf(op->getOperand(0));
  Value indices = op->getOperand(1);
  int64_t indexRank = typeOf(indices).getRank();
  // Negative ones count from the end; what lies outside reads the nearest element.
  auto coordinate = [&](const Indices &where, int64_t size) {
    std::string index = eval(indices, where);
    return variable("g",
                    "(" + indexType + ")dk::place(" + index + ", " + std::to_string(size) + ")", 0,
                    size - 1);
  };
  Indices from;
  if (auto o = dyn_cast<GatherOp>(op)) {
    int64_t axis = o.getAxis();
    from.append(at.begin(), at.begin() + axis);
    from.push_back(
        coordinate(Indices(at.begin() + axis, at.begin() + axis + indexRank), shape[axis]));
    from.append(at.begin() + axis + indexRank, at.end());
  } else if (auto o = dyn_cast<GatherElementsOp>(op)) {
    from = at;
    from[o.getAxis()] = coordinate(at, shape[o.getAxis()]);
  } else {
    auto nd = llvm::cast<GatherNdOp>(op);
    int64_t batch = nd.getBatchDims(), tuple = shapeOf(indices)[indexRank - 1];
    Indices inner(at.begin(), at.begin() + indexRank - 1);
    inner.push_back(0);
    from.append(at.begin(), at.begin() + batch);
    for (int64_t i = 0; i < tuple; ++i) {
      inner.back() = i;
      from.push_back(coordinate(inner, shape[batch + i]));
    }
    from.append(at.begin() + indexRank - 1, at.end());
  }
  return eval(op->getOperand(0), from);
}

std::string Emitter::random(RandomOp op, const Indices &at) {
  Type element = elementOf(op.getY());
  Expr offset = linear(shapeOf(op.getY()), at);
  std::string counter = eval(op.getCounter(), {});
  // Four neighbours share a block of random words.
  std::string block = x.divide(offset, 4).text(), seed = std::to_string(uint64_t(op.getSeed()));
  std::string words = let("dk::words", "dk::philox((unsigned long long)" + block + ", " + counter +
                                           ", " + seed + "ull)");
  std::string which = x.remainder(offset, 4).text();
  if (op.getKind() == RandomKind::normal)
    return let(computeName(element),
               std::string(element.isF64() ? "dk::normal_f64(" : "dk::normal(") + words + ", " +
                   which + ")");
  int bits = element.isF16() ? 11 : element.isBF16() ? 8 : 24;
  return let(computeName(element),
             "dk::uniform<" + std::to_string(bits) + ">(" + words + ", " + which + ")");
}

} // namespace dlc::cuda

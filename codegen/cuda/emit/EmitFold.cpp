//===- EmitFold.cpp - reductions, contractions and windows as loops of a thread ---===//
#include "codegen/cuda/emit/Emitter.h"
#include "ir/dlc/Contraction.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

Type Emitter::sumType(ReduceOp op) {
  // A mean of integers is summed in 64 bits, because a sum in the element type could overflow.
  Type element = elementOf(op.getX());
  if (op.getKind() == ReduceKind::mean && !isFloat(element))
    return IntegerType::get(op.getContext(), 64);
  if (isFloat(element) && !element.isF64())
    return Float32Type::get(op.getContext());
  return element;
}

Emitter::Accumulator Emitter::gather(ReduceKind kind, Type sum, int64_t terms, int64_t array) {
  constexpr int64_t few = 4;
  bool adds = kind == ReduceKind::sum || kind == ReduceKind::mean;
  Accumulator g{t.fresh("total"), kind, sum, adds && isFloat(sum) && terms > few};
  std::string type = getComputeTypeName(sum), first = neutral(kind, sum);
  if (g.careful)
    t.line("dk::careful<" + type + "> " + g.name + (array ? "[" + Twine(array) + "]" : Twine("")) +
           ";");
  else if (!array)
    t.line(type + " " + g.name + " = " + first + ";");
  else
    t.line(type + " " + g.name + "[" + Twine(array) + "];");
  if (array && !g.careful)
    for (int64_t i = 0; i < array; ++i)
      t.line(g.name + "[" + Twine(i) + "] = " + first + ";");
  return g;
}

void Emitter::gatherTerm(const Accumulator &g, const std::string &term, const std::string &at) {
  std::string name = g.name + (at.empty() ? "" : "[" + at + "]");
  t.line(g.careful ? name + ".add(" + term + ");"
                   : name + " = " + combine(g.kind, g.sum, name, term) + ";");
}

std::string Emitter::gathered(const Accumulator &g, const std::string &at) const {
  return g.name + (at.empty() ? "" : "[" + at + "]") + (g.careful ? ".value()" : "");
}

std::string Emitter::finishReduce(ReduceOp op, const std::string &total) {
  Type sum = sumType(op), element = elementOf(op.getX());
  std::string result = total;
  if (op.getKind() == ReduceKind::mean) {
    int64_t count = 1;
    for (int64_t axis : op.getAxes())
      count *= shapeOf(op.getX())[axis];
    result = isFloat(sum) || count > 0 ? total + " / " + formatLiteral(sum, double(count))
                                       : formatLiteral(sum, 0.0);
  }
  if (getComputeTypeName(sum) != getComputeTypeName(element))
    result = "(" + getComputeTypeName(element) + ")(" + result + ")";
  return rounded(op.getY(), result == total ? total : let(getComputeTypeName(element), result));
}

std::string Emitter::reduce(ReduceOp op, const Indices &at) {
  SmallVector<int64_t> extents = op.foldedExtents();
  Type sum = sumType(op);
  Accumulator total = gather(op.getKind(), sum, multiplyDims(extents));
  loops(extents, [&](ArrayRef<Expr> where) {
    std::string term = eval(op.getX(), readsOf(op, at, where).front().at);
    if (getComputeTypeName(sum) != getComputeTypeName(elementOf(op.getX())))
      term = "(" + getComputeTypeName(sum) + ")" + term;
    gatherTerm(total, term);
  });
  return finishReduce(op,
                      total.careful ? let(getComputeTypeName(sum), gathered(total)) : total.name);
}

std::string Emitter::argReduce(ArgReduceOp op, const Indices &at) {
  Type element = elementOf(op.getX());
  auto elementAt = [&](const Expr &i) { return eval(op.getX(), readsOf(op, at, i).front().at); };
  std::string best = t.fresh("v"), where = t.fresh("v");
  t.line(getComputeTypeName(element) + " " + best + " = " + elementAt(0) + ";");
  t.line("long long " + where + " = 0;");
  std::string test = std::string("dk::replaces_best<") +
                     (op.getKind() == ReduceKind::max ? "true" : "false") + ", " +
                     (op.getLast() ? "true" : "false") + ">";
  loop("1", op.foldedExtents().front(), "1", [&](Expr i) {
    std::string v = elementAt(i);
    t.line("if (" + test + "(" + v + ", " + best + ")) " + best + " = " + v + ", " + where + " = " +
           i.text() + ";");
  });
  return where;
}

std::string Emitter::sum(Type element, ArrayRef<int64_t> extents,
                         function_ref<void(ArrayRef<Expr>, const std::string &)> term) {
  std::string total = t.fresh("v");
  t.line(getComputeTypeName(element) + " " + total + " = " + formatLiteral(element, 0.0) + ";");
  loops(extents, [&](ArrayRef<Expr> where) { term(where, total); });
  return total;
}

std::string Emitter::factor(Operation *op, unsigned operand, const Indices &at) {
  std::string value = eval(op->getOperand(operand), at);
  if (!isIntegerContraction(op))
    return value;
  Type element = elementOf(op->getOperand(operand)), sum = elementOf(op->getResult(0));
  value = cast(value, element, sum);
  Value zero = zeroPointOf(op, operand);
  if (!zero)
    return value;
  Indices index(shapeOf(zero).size(), Expr(0));
  for (auto [d, size] : llvm::enumerate(shapeOf(zero)))
    if (size != 1)
      index[d] = at[d + at.size() - index.size()];
  // The zero points of a convolution's weights are indexed by the output channel, the weights'
  // first dimension.
  if (isa<ConvOp>(op) && index.size() == 1)
    index[0] = shapeOf(zero)[0] == 1 ? Expr(0) : at[0];
  return "dk::sub(" + value + ", " + cast(eval(zero, index), elementOf(zero), sum) + ")";
}

std::string Emitter::contraction(Operation *op, const Indices &at) {
  Type element = elementOf(op->getResult(0));
  std::string total =
      sum(element, foldedExtents(op), [&](ArrayRef<Expr> where, const std::string &total) {
        auto reads = readsOf(op, at, where);
        guarded(conditionsOf(reads[0]), [&] {
          std::string a = factor(op, 0, reads[0].at), b = factor(op, 1, reads[1].at);
          t.line(total + (isFloat(element)
                              ? " += " + a + " * " + b + ";"
                              : " = dk::add(" + total + ", dk::mul(" + a + ", " + b + "));"));
        });
      });
  Value bias = biasOf(op);
  if (!bias)
    return total;
  std::string b = eval(bias, {at[1]});
  return let(getComputeTypeName(element), combine(ReduceKind::sum, element, total, b));
}

std::string Emitter::maxPool(Operation *op, Value result, const Indices &at) {
  auto shape = shapeOf(op->getOperand(0));
  Type element = elementOf(op->getOperand(0));
  SmallVector<int64_t> window = foldedExtents(op);
  std::string best = t.fresh("v"), where = t.fresh("v");
  auto indices = dyn_cast<MaxPoolIndicesOp>(op);
  t.line(getComputeTypeName(element) + " " + best + " = " + neutral(ReduceKind::max, element) +
         ";");
  t.line("long long " + where + " = -1;");
  loops(window, [&](ArrayRef<Expr> k) {
    OperandRead read = readsOf(op, at, k).front();
    const Indices &from = read.at;
    guarded(conditionsOf(read), [&] {
      std::string v = eval(op->getOperand(0), from);
      // The result is the first position of the maximum. NaN is larger than all numbers.
      Expr place = x.linear(window, k);
      if (indices) {
        place = x.linear(shape, from);
        if (indices.getColumnMajor()) {
          // The position is a flat index with the spatial dimensions in column-major order.
          place = x.add(from[0] * shape[1], from[1]) * multiplyDims(shape.drop_front(2));
          int64_t step = 1;
          for (size_t d = 2; d < shape.size(); step *= shape[d], ++d)
            place = x.add(place, from[d] * step);
        }
      }
      t.line("if (" + where + " < 0 || dk::replaces_best<true, false>(" + v + ", " + best + ")) " +
             best + " = " + v + ", " + where + " = " + place.text() + ";");
    });
  });
  scopes.back()[keyOf(op->getResult(0), at)] = best;
  if (op->getNumResults() == 1)
    return best;
  std::string second = where;
  if (!indices)
    second = let("unsigned char", "(unsigned char)(" + where + " < 0 ? 0 : " + where + ")");
  scopes.back()[keyOf(op->getResult(1), at)] = second;
  return result == op->getResult(0) ? best : second;
}

/// Returns the text of the number of window elements by which an average is divided.
template <typename Op>
static std::string formatAverageCount(Op op, ArrayRef<int64_t> image, ArrayRef<Expr> position) {
  std::string count;
  for (size_t d = 0; d < position.size(); ++d) {
    Expr start = position[d] * op.getStrides()[d];
    int64_t size = image[d];
    if (op.getIncludePad())
      size += op.getLow()[d] + op.getCountedHigh()[d];
    else
      start = start - Expr(op.getLow()[d]);
    int64_t window = op.getWindow()[d], dilation = op.getDilations()[d];
    bool whole = start.low() >= 0 && start.high() + (window - 1) * dilation < size;
    std::string one = whole ? std::to_string(window)
                            : "dk::count_taps_inside(" + start.text() + ", " +
                                  std::to_string(window) + ", " + std::to_string(dilation) + ", " +
                                  std::to_string(size) + ")";
    count += (count.empty() ? "" : " * ") + one;
  }
  return count;
}

std::string Emitter::averaged(AvgPoolOp op, const Indices &at) {
  return formatAverageCount(op, shapeOf(op.getX()).drop_front(2), ArrayRef<Expr>(at).drop_front(2));
}

std::string Emitter::averaged(AvgPoolGradOp op, const Indices &at) {
  return formatAverageCount(op, op.getSpatial(), ArrayRef<Expr>(at).drop_front(2));
}

std::string Emitter::avgPool(AvgPoolOp op, const Indices &at) {
  Type element = elementOf(op.getX());
  std::string type = getComputeTypeName(element);
  std::string total = sum(element, op.getWindow(), [&](ArrayRef<Expr> k, const std::string &total) {
    OperandRead read = readsOf(op, at, k).front();
    guarded(conditionsOf(read), [&] { t.line(total + " += " + eval(op.getX(), read.at) + ";"); });
  });
  return let(type, "dk::average(" + total + ", (" + type + ")(" + averaged(op, at) + "))");
}

std::string Emitter::poolGrad(Operation *op, const Indices &at) {
  auto max = dyn_cast<MaxPoolGradOp>(op);
  auto avg = dyn_cast<AvgPoolGradOp>(op);
  Value dy = op->getOperand(0);
  Type element = elementOf(dy);
  SmallVector<int64_t> window = foldedExtents(op);
  return sum(element, window, [&](ArrayRef<Expr> k, const std::string &total) {
    // Sums the gradients of all windows that contain this input element, which is their element k.
    OperandRead read = readsOf(op, at, k).front();
    const Indices &from = read.at;
    guarded(conditionsOf(read), [&] {
      if (avg) {
        t.line(total + " += dk::average(" + eval(dy, from) + ", (" + getComputeTypeName(element) +
               ")(" + averaged(avg, from) + "));");
        return;
      }
      std::string position = eval(max.getPosition(), from);
      Expr place = x.linear(window, k);
      t.line("if (" + position + " == " + place.text() + ") " + total + " += " + eval(dy, from) +
             ";");
    });
  });
}

} // namespace dlc::cuda

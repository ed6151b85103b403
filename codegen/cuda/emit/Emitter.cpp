//===- Emitter.cpp - indices, loads, stores and loops as text -------------===//
#include "codegen/cuda/emit/Emitter.h"
#include "passes/Rounding.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

std::string Emitter::let(const std::string &type, const std::string &text) {
  std::string name = t.fresh("v");
  t.line("const " + type + " " + name + " = " + text + ";");
  return name;
}

Expr Emitter::variable(StringRef prefix, const std::string &value, int64_t low, int64_t high) {
  if (low == high)
    return low;
  std::string name = t.fresh(prefix);
  t.line("const " + indexType + " " + name + " = " + value + ";");
  return freshAtom(name, low, high);
}

SmallVector<OperandRead, 2> Emitter::readsOf(Operation *op, const Indices &at,
                                             ArrayRef<Expr> over) {
  // Negative elements of an index tensor count from the end of the dimension. The resulting index
  // is clamped to the dimension.
  auto load = [&](Value indices, const Indices &where, int64_t size) {
    std::string index = eval(indices, where);
    return variable("g",
                    "(" + indexType + ")dk::place(" + index + ", " + std::to_string(size) + ")", 0,
                    size - 1);
  };
  return dlc::readsOf(op, x, at, over, load);
}

SmallVector<std::string> Emitter::conditionsOf(const OperandRead &read) {
  SmallVector<std::string> list;
  for (const IndexGuard &guard : read.guards) {
    if (guard.place.low() < 0)
      list.push_back(guard.place.text() + " >= 0");
    if (Expr rest = x.remainder(guard.place, guard.by); !(rest == Expr(0)))
      list.push_back(rest.text() + " == 0");
    if (Expr whole = x.divide(guard.place, guard.by); whole.high() >= guard.size)
      list.push_back(whole.text() + " < " + std::to_string(guard.size));
  }
  return list;
}

Emitter::Key Emitter::keyOf(Value value, const Indices &at) {
  std::string key = std::to_string(uintptr_t(value.getAsOpaquePointer()));
  for (const Expr &i : at)
    key += "," + i.text();
  return key;
}

std::string Emitter::eval(Value value, const Indices &at) {
  if (auto found = everywhere.find(value); found != everywhere.end())
    return found->second;
  Key key = keyOf(value, at);
  for (auto &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  if (!lane || conditions != lane->conditions || llvm::any_of(at, [&](const Expr &i) {
        return i.uses(lane->atom) || computeDepth(i) > lane->depth;
      }))
    return scopes.back()[key] = evalUncached(value, at);
  // A value that is equal in all lanes is computed once, before the loop over the lanes.
  auto around = std::exchange(lane, std::nullopt);
  std::vector<std::map<Key, std::string>> inner(
      std::make_move_iterator(scopes.begin() + around->depth),
      std::make_move_iterator(scopes.end()));
  scopes.resize(around->depth);
  std::string result;
  t.ahead(around->indentation, [&] { result = evalUncached(value, at); });
  scopes.back()[key] = result;
  std::move(inner.begin(), inner.end(), std::back_inserter(scopes));
  lane = around;
  return result;
}

std::optional<std::pair<Buffer, Expr>> Emitter::place(Value value, const Indices &at) {
  if (auto found = buffers.find(value); found != buffers.end() && found->second.parts == 1)
    return std::pair(found->second, x.linear(shapeOf(value), at));
  Operation *op = value.getDefiningOp();
  if (!op || everywhere.count(value))
    return std::nullopt;
  if (auto moved = getSourceIndex(op, x, at))
    return place(op->getOperand(0), *moved);
  return std::nullopt;
}

void Emitter::reads(Value value, const Indices &at, Reads &found) {
  if (auto known = buffers.find(value); known != buffers.end()) {
    if (known->second.parts == 1 && !llvm::is_contained(found, std::pair(value, at)))
      found.push_back({value, at});
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto moved = getSourceIndex(op, x, at))
    return reads(op->getOperand(0), *moved, found);
  if (op->hasTrait<Elementwise>())
    for (const OperandRead &read : readsOf(op, at))
      reads(op->getOperand(read.operand), read.at, found);
}

std::string Emitter::evalUncached(Value value, const Indices &at) {
  if (auto found = buffers.find(value); found != buffers.end()) {
    Expr offset = x.linear(shapeOf(value), at);
    return found->second.parts > 1 ? loadParts(value, found->second, offset)
                                   : load(found->second, offset);
  }
  std::string x = compute(value, at);
  // The result of a reduction was already rounded by finishReduce().
  return value.getDefiningOp<ReduceOp>() ? x : rounded(value, x);
}

std::string Emitter::rounded(Value value, const std::string &text) {
  if (!needsRounding(value))
    return text;
  Type element = elementOf(value);
  return let(getComputeTypeName(element),
             cast(text, Float32Type::get(element.getContext()), element));
}

std::string Emitter::compute(Value value, const Indices &at) {
  Operation *op = value.getDefiningOp();
  assert(op && "an argument of a fusion without a buffer");
  if (op->hasTrait<ElementMove>())
    return move(op, at);
  if (op->hasTrait<Elementwise>())
    return elementwise(op, at);
  if (auto o = dyn_cast<ConstantOp>(op))
    return constant(o, at);
  if (auto o = dyn_cast<IotaOp>(op))
    return let(getComputeTypeName(elementOf(value)),
               cast("(long long)" + at[o.getAxis()].text(true),
                    IntegerType::get(op->getContext(), 64), elementOf(value)));
  if (auto o = dyn_cast<RandomOp>(op))
    return random(o, at);
  if (auto o = dyn_cast<ReduceOp>(op))
    return reduce(o, at);
  if (auto o = dyn_cast<ArgReduceOp>(op))
    return argReduce(o, at);
  if (op->hasTrait<Contraction>())
    return contraction(op, at);
  if (isa<MaxPoolOp, MaxPoolPositionsOp, MaxPoolIndicesOp>(op))
    return maxPool(op, value, at);
  if (auto o = dyn_cast<AvgPoolOp>(op))
    return avgPool(o, at);
  if (isa<MaxPoolGradOp, AvgPoolGradOp>(op))
    return poolGrad(op, at);
  llvm_unreachable("an operation that canGenerate refuses");
}

std::string Emitter::elementwise(Operation *op, const Indices &at) {
  SmallVector<std::string> operands;
  for (const OperandRead &read : readsOf(op, at))
    operands.push_back(eval(op->getOperand(read.operand), read.at));
  return let(getComputeTypeName(elementOf(op->getResult(0))), formatElement(*this, op, operands));
}

std::string Emitter::load(const Buffer &from, const Expr &offset) {
  used.insert(from.name);
  std::string type = getComputeTypeName(from.element);
  int64_t bytes = ref::elementBytes(from.element);
  if (lane && conditions == lane->conditions && computeDepth(offset, lane->atom) <= lane->depth) {
    int64_t step = offset.coefficient(lane->atom);
    Expr rest = offset;
    for (auto *term = rest.terms.begin(); term != rest.terms.end(); ++term)
      if (term->first == lane->atom) {
        rest.terms.erase(term);
        break;
      }
    int64_t vector = lane->width * bytes;
    bool even = rest.constant % lane->width == 0 && !rest.uses(lane->atom) &&
                llvm::all_of(rest.terms, [&](auto term) { return term.second % lane->width == 0; });
    if (step == 1 && even && vector <= 32 && from.alignment % std::min<int64_t>(16, vector) == 0) {
      std::string key = from.name + "[" + rest.text() + "]";
      auto &ahead = scopes[lane->depth - 1][key];
      if (ahead.empty()) {
        ahead = t.fresh("x");
        t.ahead(lane->indentation, [&] {
          t.line("const auto " + ahead + " = dk::load<" + Twine(lane->width) + ">(" + from.name +
                 " + " + rest.text() + ");");
        });
      }
      return let(type, "dk::load(" + ahead + ".e[" + lane->atom->name + "])");
    }
  }
  return let(type, "dk::load(" + from.name + "[" + offset.text() + "])");
}

std::string Emitter::loadParts(Value value, const Buffer &from, const Expr &offset) {
  auto op = value.getDefiningOp<ReduceOp>();
  Type sum = op ? sumType(op) : from.element;
  ReduceKind kind = op ? op.getKind() : ReduceKind::sum;
  used.insert(from.name);
  Accumulator parts = gather(kind, sum, from.parts);
  int64_t stride = typeOf(value).getNumElements();
  t.line("#pragma unroll 8");
  loop("0", from.parts, "1", [&](Expr part) {
    gatherTerm(parts, let(getComputeTypeName(sum), "dk::load(" + from.name + "[" +
                                                       x.add(part * stride, offset).text() + "])"));
  });
  std::string total = let(getComputeTypeName(sum), gathered(parts));
  if (op)
    return finishReduce(op, total);
  if (Value bias = biasOf(value.getDefiningOp())) {
    // The bias is added once, after the partial results of a contraction are summed.
    auto shape = shapeOf(value);
    Expr channel = x.remainder(x.divide(offset, multiplyDims(shape.drop_front(2))), shape[1]);
    total = let(getComputeTypeName(sum), total + " + " + eval(bias, {channel}));
  }
  return rounded(value, total);
}

void Emitter::store(const Buffer &to, const Expr &offset, const std::string &element) {
  used.insert(to.name);
  written.insert(to.name);
  t.line(to.name + "[" + offset.text() + "] = dk::as<" + getStorageTypeName(to.element) + ">(" +
         element + ");");
}

void Emitter::storeVector(const Buffer &to, const Expr &offset, int64_t width,
                          const std::string &vector) {
  used.insert(to.name);
  written.insert(to.name);
  if (to.alignment % std::min<int64_t>(16, width * ref::elementBytes(to.element)) == 0) {
    t.line("dk::store<" + Twine(width) + ">(" + to.name + " + " + offset.text() + ", " + vector +
           ");");
    return;
  }
  for (int64_t l = 0; l < width; ++l)
    t.line(to.name + "[" + (offset + Expr(l)).text() + "] = " + vector + ".e[" + Twine(l) + "];");
}

void Emitter::lanes(int64_t width, function_ref<void(Expr)> body) {
  pushScope();
  if (width == 1) {
    body(0);
    popScope();
    return;
  }
  auto before = lane;
  unsigned around = depth();
  unsigned indentation = t.indentation;
  std::string name = t.fresh("l");
  pushScope();
  Expr atom = freshAtom(name, 0, width - 1);
  lane = LaneLoop{atom.terms[0].first, width, around, indentation, conditions};
  t.begin();
  ++t.indentation;
  body(atom);
  --t.indentation;
  std::string text = t.end();
  t.line("#pragma unroll");
  t.line("for (int " + name + " = 0; " + name + " < " + Twine(width) + "; ++" + name + ") {");
  t.append(text);
  t.line("}");
  popScope();
  lane = before;
  popScope();
}

void Emitter::loop(const std::string &from, int64_t size, const std::string &step,
                   function_ref<void(Expr)> body, bool unroll) {
  std::string name = t.fresh("r");
  if (unroll)
    t.line("#pragma unroll");
  t.open("for (" + indexType + " " + name + " = " + from + "; " + name + " < " + Twine(size) +
         "; " + (step == "1" ? "++" + name : name + " += " + step) + ")");
  pushScope();
  body(freshAtom(name, 0, std::max<int64_t>(size - 1, 0)));
  popScope();
  t.close();
}

void Emitter::loops(ArrayRef<int64_t> extents, function_ref<void(ArrayRef<Expr>)> body) {
  SmallVector<Expr> where;
  std::function<void()> nest = [&] {
    if (where.size() == extents.size())
      return body(where);
    if (extents[where.size()] == 1) {
      where.push_back(0);
      nest();
    } else {
      loop("0", extents[where.size()], "1", [&](Expr i) {
        where.push_back(i);
        nest();
        where.pop_back();
      });
      return;
    }
    where.pop_back();
  };
  nest();
}

void Emitter::guarded(const SmallVectorImpl<std::string> &list, function_ref<void()> body) {
  if (list.empty())
    return body();
  t.open("if (" + llvm::join(list, " && ") + ")");
  pushScope();
  ++conditions;
  body();
  --conditions;
  popScope();
  t.close();
}

} // namespace dlc::cuda

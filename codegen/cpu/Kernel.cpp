//===- Kernel.cpp - iteration spaces, rows and lanes of a fused kernel ----===//
#include "codegen/cpu/Kernel.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::cpu {

namespace {

RankedTensorType tensorType(Value v) { return cast<RankedTensorType>(v.getType()); }

/// One loop nest: results of one shape, computed together row by row.
struct Nest {
  SmallVector<int64_t> shape;        ///< what is walked; the last dimension is a row
  struct Store {
    Value value;                     ///< of the nest's shape, but for concatenated parts
    unsigned output;
    int64_t axis = -1, offset = 0;   ///< a part of a concatenation starts here
  };
  SmallVector<Store> stores;         ///< one element per element of the row
  SmallVector<Store> rowStores;      ///< one element per row
  bool scalarRow = false;            ///< elements of the row are reductions of their own: no lanes
  int64_t lanes = 0, block = 0, blocks = 1;
  int64_t units = 1;                 ///< rows (or blocks of rows)
  double work = 0;                   ///< rough operations per unit
};

double weight(Operation *op) {
  if (isa<ExpOp, TanhOp, SigmoidOp, ErfOp, GeluOp, LogOp, SinOp, CosOp, PowOp, Expm1Op, Log1pOp>(op))
    return 8;
  if (isa<DivOp, SqrtOp, RsqrtOp, RemOp>(op))
    return 3;
  return 1;
}

/// Operations per element that evaluating `value` once costs, reductions included.
double workOf(Operation *op) {
  double elements = double(tensorType(op->getResult(0)).getNumElements());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return double(tensorType(reduce.getX()).getNumElements());
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    auto a = tensorType(matmul.getA());
    return 2 * elements * double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
  }
  if (auto conv = dyn_cast<ConvOp>(op)) {
    auto w = tensorType(conv.getW());
    return 2 * elements * double(w.getNumElements()) / double(std::max<int64_t>(1, w.getDimSize(0)));
  }
  if (auto conv = dyn_cast<ConvTransposeOp>(op)) {
    auto w = tensorType(conv.getW());
    return 2 * elements * double(w.getNumElements()) / double(std::max<int64_t>(1, w.getDimSize(1)));
  }
  auto windowWork = [&](ArrayRef<int64_t> window) {
    double n = elements;
    for (int64_t w : window)
      n *= double(w);
    return n;
  };
  if (auto pool = dyn_cast<MaxPoolOp>(op))
    return windowWork(pool.getWindow());
  if (auto pool = dyn_cast<AvgPoolOp>(op))
    return windowWork(pool.getWindow());
  return op->hasTrait<Elementwise>() ? elements * weight(op) : elements * 0.25;
}

double totalWork(FusionOp fusion) {
  double work = 0;
  for (Operation &op : fusion.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op))
      work += workOf(&op);
  return work;
}

bool hasLoops(FusionOp fusion) {
  for (Operation &op : fusion.getBody().front())
    if (isa<ReduceOp, MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(op))
      return true;
  return false;
}

/// Whether lanes along the last dimension of `value` would run across a reduction over its operand's last dimension:
/// then the elements are better computed one by one, each with lanes along what it reduces.
bool lanesCrossReduction(Value value, int64_t lastDim) {
  if (lastDim < 0)
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto shape = tensorType(value).getShape();
  if (shape[lastDim] == 1)
    return false;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t last = tensorType(reduce.getX()).getRank() - 1;
    return llvm::is_contained(reduce.getAxes(), last) && tensorType(reduce.getX()).getDimSize(last) >= 4;
  }
  if (op->hasTrait<Elementwise>() || isa<BroadcastOp>(op)) {
    for (Value operand : op->getOperands()) {
      int64_t d = lastDim - (tensorType(value).getRank() - tensorType(operand).getRank());
      if (lanesCrossReduction(operand, d))
        return true;
    }
    return false;
  }
  if (isa<ReshapeOp>(op)) {
    auto from = tensorType(op->getOperand(0));
    int64_t d = from.getRank() - 1;
    // A dropped unit dimension does not hide the reduction behind it.
    while (d > 0 && from.getDimSize(d) == 1)
      --d;
    return lanesCrossReduction(op->getOperand(0), d);
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return lanesCrossReduction(op->getOperand(0), transpose.getPermutation()[lastDim]);
  if (isa<SliceOp>(op))
    return lanesCrossReduction(op->getOperand(0), lastDim);
  return false;
}

int64_t product(ArrayRef<int64_t> values) {
  int64_t n = 1;
  for (int64_t v : values)
    n *= v;
  return n;
}

/// Lanes of a row: two registers of 32-bit elements where the work per element is light, else one.
int64_t chooseLanes(FusionOp fusion, const Target &target, int64_t row) {
  bool heavy = false;
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    heavy |= weight(&op) > 4 || isa<MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(op);
    for (Value r : op.getResults())
      heavy |= tensorType(r).getElementTypeBitWidth() > 32;
  }
  int64_t lanes = target.lanes32() * (heavy ? 1 : 2);
  return std::min(lanes, row);
}

/// Values worth keeping while a row is reduced, since the rest of the row's work needs them again and they cost
/// more than a store and a load: softmax's exponentials.
SmallVector<Value> keptRows(FusionOp fusion) {
  constexpr int64_t kRowBytes = 1 << 18; // a part of the second-level cache
  SmallVector<Value> result;
  // Nothing may look into another row, or into the row in another order.
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (reduce ? reduce.getAxes() != ArrayRef<int64_t>{tensorType(reduce.getX()).getRank() - 1}
               : !op.hasTrait<Elementwise>() && !isa<ConstantOp, BroadcastOp>(op))
      return result;
  }
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    if (!op.hasTrait<Elementwise>() || weight(&op) <= 4 || op.getResult(0).hasOneUse())
      continue;
    auto type = tensorType(op.getResult(0));
    if (type.getRank() == 0 || type.getShape().back() * 8 > kRowBytes || isa<IntegerType>(type.getElementType()))
      continue;
    auto reducesRow = [&](Operation *user) {
      auto reduce = dyn_cast<ReduceOp>(user);
      return reduce && reduce.getAxes() == ArrayRef<int64_t>{type.getRank() - 1};
    };
    // All its uses must meet in the same row: reductions of it, and elementwise work of its own shape.
    bool reduced = false, sameRow = true;
    for (Operation *user : op.getResult(0).getUsers()) {
      reduced |= reducesRow(user);
      sameRow &= isa<YieldOp>(user) || reducesRow(user) ||
                 (user->hasTrait<Elementwise>() && tensorType(user->getResult(0)).getShape() == type.getShape());
    }
    if (reduced && sameRow)
      result.push_back(op.getResult(0));
  }
  return result;
}

int64_t rowBytes(Value value) {
  int64_t bytes = tensorType(value).getShape().back() * (computeType(tensorType(value).getElementType()).getIntOrFloatBitWidth() / 8);
  return (bytes + 63) / 64 * 64;
}

SmallVector<Nest> planNests(FusionOp fusion, const Target &target) {
  auto yield = cast<YieldOp>(fusion.getBody().front().getTerminator());
  SmallVector<Nest> nests;
  auto rowsOf = [](ArrayRef<int64_t> shape) { return shape.empty() ? shape : shape.drop_back(); };
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    auto shape = tensorType(value).getShape();
    auto concat = value.getDefiningOp<ConcatOp>();
    if (concat && yield.getNumOperands() == 1) {
      // Each part is walked by itself, and nothing has to choose per element.
      int64_t offset = 0;
      for (Value part : concat.getXs()) {
        Nest nest;
        nest.shape = llvm::to_vector(tensorType(part).getShape());
        nest.stores.push_back({part, unsigned(i), int64_t(concat.getAxis()), offset});
        offset += nest.shape[concat.getAxis()];
        if (product(nest.shape) > 0)
          nests.push_back(nest);
      }
      continue;
    }
    bool placed = false;
    for (Nest &nest : nests) {
      if (ArrayRef<int64_t>(nest.shape) == shape) {
        nest.stores.push_back({value, unsigned(i)});
        placed = true;
      } else if (!shape.empty() && nest.shape.size() == shape.size() && shape.back() == 1 &&
                 rowsOf(nest.shape) == rowsOf(shape)) {
        nest.rowStores.push_back({value, unsigned(i)});
        placed = true;
      } else if (!shape.empty() && nest.shape.size() == shape.size() && nest.shape.back() == 1 &&
                 rowsOf(nest.shape) == rowsOf(shape) && nest.rowStores.empty()) {
        // The rows' own values came first: they become row stores of the wider nest.
        std::swap(nest.stores, nest.rowStores);
        nest.shape = llvm::to_vector(shape);
        nest.stores.push_back({value, unsigned(i)});
        placed = true;
      }
      if (placed)
        break;
    }
    if (!placed && product(shape) > 0) {
      Nest nest;
      nest.shape = llvm::to_vector(shape);
      nest.stores.push_back({value, unsigned(i)});
      nests.push_back(nest);
    }
  }
  double work = totalWork(fusion), elements = 0;
  for (Nest &nest : nests)
    elements += double(product(nest.shape));
  bool loops = hasLoops(fusion);
  for (Nest &nest : nests) {
    if (nest.shape.empty())
      nest.shape.push_back(1);
    int64_t row = nest.shape.back(), rows = product(rowsOf(nest.shape));
    for (auto &store : nest.stores)
      nest.scalarRow |= lanesCrossReduction(store.value, tensorType(store.value).getRank() - 1);
    nest.lanes = nest.scalarRow ? 0 : chooseLanes(fusion, target, row);
    double perElement = std::max(1.0, work / std::max(1.0, elements));
    // Long rows are cut so that few rows still feed all cores; not where cutting would repeat a row's reductions.
    nest.block = row;
    bool cut = nest.scalarRow || !loops || perElement > 64;
    if (cut && rows < 64) {
      int64_t step = nest.scalarRow ? 1 : nest.lanes;
      int64_t wanted = std::max<int64_t>(1, int64_t(16384 / perElement));
      nest.block = std::min(row, std::max(step, (wanted + step - 1) / step * step));
    }
    nest.blocks = (row + nest.block - 1) / nest.block;
    nest.units = rows * nest.blocks;
    nest.work = perElement * double(nest.block);
  }
  return nests;
}

} // namespace

bool canEmit(FusionOp fusion, std::string *why) {
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    bool known = op.hasTrait<Elementwise>() ||
                 isa<ConstantOp, IotaOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, PadOp, ConcatOp, GatherOp,
                     GatherElementsOp, GatherNdOp, ReduceOp, MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(op);
    if (!known) {
      if (why)
        *why = ("generated code has no '" + op.getName().getStringRef() + "'").str();
      return false;
    }
  }
  return true;
}

KernelPlan planKernel(FusionOp fusion, const Target &target) {
  KernelPlan plan;
  plan.extent = 0;
  double work = 0;
  for (Nest &nest : planNests(fusion, target)) {
    plan.extent += nest.units;
    work += nest.work * double(nest.units);
  }
  for (Value value : keptRows(fusion))
    plan.scratch += rowBytes(value);
  plan.flops = totalWork(fusion);
  auto bytesOf = [](RankedTensorType type) {
    return double(type.getNumElements()) * double(ref::elementBytes(type.getElementType()));
  };
  for (Value argument : fusion.getBody().getArguments())
    plan.bytes += bytesOf(tensorType(argument));
  for (Value value : fusion.getBody().front().getTerminator()->getOperands())
    plan.bytes += bytesOf(tensorType(value));
  // Below some ten thousand operations waking a second thread costs more than it saves.
  double perUnit = std::max(1.0, std::max(work, plan.bytes / 4) / double(std::max<int64_t>(1, plan.extent)));
  plan.grain = std::max<int64_t>(1, int64_t(24576 / perUnit));
  return plan;
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(OpBuilder &b, Emitter &e, FusionOp fusion, ArrayRef<Value> outputs, Value scratch)
      : b(b), e(e), loc(e.loc), fusion(fusion), outputs(outputs), scratch(scratch) {}

  void run(Nest &nest, Value begin, Value end, int64_t first) {
    Value from = e.binary("max", begin, e.i64(first)), to = e.binary("min", end, e.i64(first + nest.units));
    auto loop = scf::ForOp::create(b, loc, from, to, e.i64(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    e.pushScope();
    unit(nest, e.binary("sub", loop.getInductionVar(), e.i64(first)));
    e.popScope();
  }

private:
  void unit(Nest &nest, Value unit) {
    int64_t row = nest.shape.back();
    Indices at;
    Value rest = unit, block = e.i64(0);
    auto take = [&](int64_t size, bool last) {
      if (size == 1)
        return e.i64(0);
      if (last)
        return rest;
      Value r = e.binary("rem", rest, e.i64(size));
      rest = e.binary("div", rest, e.i64(size));
      return r;
    };
    int64_t outer = int64_t(nest.shape.size()) - 1;
    block = take(nest.blocks, product(ArrayRef<int64_t>(nest.shape).drop_back()) == 1);
    at.resize(outer + 1);
    for (int64_t d = outer - 1; d >= 0; --d)
      at[d] = {take(nest.shape[d], product(ArrayRef<int64_t>(nest.shape).take_front(d)) == 1), 0, nullptr, false};

    // What the whole row needs is computed before its loop.
    e.forgetRows();
    int64_t offset = 0;
    for (Value value : keptRows(fusion)) {
      // Another nest's rows are not this one's.
      if (tensorType(value).getShape() == ArrayRef<int64_t>(nest.shape) && !nest.scalarRow)
        e.keepRow(value, LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch, ArrayRef<LLVM::GEPArg>{int32_t(offset)}));
      offset += rowBytes(value);
    }
    at[outer] = {nullptr, 0, nullptr, true};
    for (auto &store : nest.stores)
      e.hoist(store.value, padTo(at, store.value));
    at[outer] = e.constant(0);
    storeAll(nest.rowStores, at, 0);

    Value start = e.binary("mul", block, e.i64(nest.block));
    if (nest.scalarRow) {
      Value stop = e.binary("min", e.binary("add", start, e.i64(nest.block)), e.i64(row));
      rowLoop(nest, at, start, stop, 1, 0);
      return;
    }
    int64_t tail = row % nest.lanes;
    Value whole = e.i64(row - tail);
    Value stop = e.binary("min", e.binary("add", start, e.i64(nest.block)), whole);
    if (row >= nest.lanes)
      rowLoop(nest, at, start, stop, nest.lanes, nest.lanes);
    if (tail == 0)
      return;
    auto emitTail = [&] {
      e.pushScope();
      at[outer] = {e.i64(row - tail), tail > 1 ? 1 : 0, nullptr, false};
      storeAll(nest.stores, at, tail > 1 ? tail : 0);
      e.popScope();
    };
    if (nest.blocks == 1)
      return emitTail();
    Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, block, e.i64(nest.blocks - 1));
    auto branch = scf::IfOp::create(b, loc, last, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitTail();
  }

  void rowLoop(Nest &nest, Indices at, Value start, Value stop, int64_t step, int64_t lanes) {
    if (step == nest.shape.back() && nest.blocks == 1) {
      // One vector is the whole row.
      at.back() = {e.i64(0), lanes > 1 ? 1 : 0, nullptr, false};
      storeAll(nest.stores, at, lanes > 1 ? lanes : 0);
      return;
    }
    auto loop = scf::ForOp::create(b, loc, start, stop, e.i64(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    e.pushScope();
    at.back() = {loop.getInductionVar(), lanes > 1 ? 1 : 0, nullptr, false};
    storeAll(nest.stores, at, lanes > 1 ? lanes : 0);
    e.popScope();
  }

  /// A 0-d value is walked as one row of one element.
  Indices padTo(const Indices &at, Value value) { return tensorType(value).getRank() == 0 ? Indices{} : at; }

  /// All are known before the first is stored: an output may lie where an input of the others lies (Inplace.h).
  void storeAll(ArrayRef<Nest::Store> stores, const Indices &at, int64_t lanes) {
    SmallVector<Value> elements;
    for (const Nest::Store &store : stores)
      elements.push_back(e.eval(store.value, padTo(at, store.value), lanes));
    for (auto [store, element] : llvm::zip(stores, elements))
      storeAt(store, at, element, lanes);
  }

  void storeAt(const Nest::Store &store, const Indices &at, Value element, int64_t lanes) {
    Indices where = padTo(at, store.value);
    auto yield = fusion.getBody().front().getTerminator();
    auto type = tensorType(yield->getOperand(store.output));
    if (store.axis >= 0) {
      Index &x = where[store.axis];
      x.base = e.binary("add", x.base, e.i64(store.offset));
    }
    e.store(type, outputs[store.output], where, element, lanes);
  }

  OpBuilder &b;
  Emitter &e;
  Location loc;
  FusionOp fusion;
  ArrayRef<Value> outputs;
  Value scratch;
};

} // namespace

LogicalResult emitKernel(OpBuilder &b, FusionOp fusion, StringRef name, const Target &target) {
  std::string why;
  if (!canEmit(fusion, &why))
    return fusion.emitError(why);
  Location loc = fusion.getLoc();
  MLIRContext *context = b.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  // Outputs alias inputs as Inplace.h allows only: the loads of an element precede the stores to it.
  Block *entry = function.addEntryBlock(b);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Emitter e(b, loc, entry->getArgument(4), target);
  auto buffer = [&](int64_t i) -> Value {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(i)});
    auto load = LLVM::LoadOp::create(b, loc, pointer, slot, 8);
    load.setInvariant(true);
    return load;
  };
  int64_t next = 0;
  for (Value argument : fusion.getBody().getArguments())
    e.bindBuffer(argument, buffer(next++));
  SmallVector<Value> outputs;
  for (size_t i = 0; i < fusion.getBody().front().getTerminator()->getNumOperands(); ++i)
    outputs.push_back(buffer(next++));
  KernelEmitter emitter(b, e, fusion, outputs, entry->getArgument(3));
  int64_t first = 0;
  for (Nest &nest : planNests(fusion, target)) {
    emitter.run(nest, entry->getArgument(1), entry->getArgument(2), first);
    first += nest.units;
  }
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return success();
}

} // namespace dlc::cpu

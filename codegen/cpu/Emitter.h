//===- Emitter.h - a fusion's body, pulled element by element -------------===//
//
// The body of a fusion is evaluated at the index of a result element: each operation maps that
// index to the indices of its operands, down to loads from the kernel's buffers. An index may stand
// for several neighbouring elements at once (lanes along one dimension), and then values are
// vectors. Nothing is ever masked: the tail of a row is a vector of exactly the lanes that remain.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_EMITTER_H
#define DLC_CODEGEN_CPU_EMITTER_H

#include "codegen/cpu/Target.h"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/IndexMap.h"
#include "passes/fuse/Classify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

namespace dlc::cpu {

/// What is known of a vector of places: it is (first + lane) / by, or the remainder, where `first`
/// is a multiple of `by` and so is the number of lanes. Runs of `by` lanes have one quotient, and
/// all runs have the same remainders.
struct Runs {
  mlir::Value first; ///< i64
  int64_t by = 0;    ///< 0: nothing is known
  bool isRemainder = false;

  bool areOf(const Runs &other) const { return first == other.first && by == other.by; }
};

/// One coordinate: base + lane * step for lane = 0, 1, ..; or, where that form cannot say it, a
/// vector.
struct Index {
  mlir::Value base;     ///< i64
  int64_t step = 0;     ///< 0: the same for all lanes
  mlir::Value vec;      ///< vector<lanes x i64>; when set, base and step mean nothing
  bool unknown = false; ///< not computed yet (used while looking for what can be hoisted)
  Runs runs = {};       ///< of vec

  bool isUniform() const { return !vec && step == 0 && !unknown; }
};
using Indices = llvm::SmallVector<Index, 6>;

/// One of the reductions that a loop feeds: how terms combine, and the element type of the result.
struct Fold {
  ReduceKind kind;
  mlir::Type element;
};

/// What a kernel asks of memory before it needs it.
struct Prefetching {
  int64_t elements = 0; ///< of the buffers that are meant; 0: none
  size_t walk = 1;      ///< the walk over a row whose loads do so
  int64_t ahead = 0;    ///< elements from what is loaded to what is asked for
  /// Or, if set: the `rows` rows after the ones at hand, of `row` elements each, a line of each in
  /// turn. The processor reads ahead of each of them by itself.
  int64_t rows = 0, row = 0;
};

class IndexLowering;
struct Windows;
struct RowParts;

class Emitter {
public:
  Emitter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, const Target &target)
      : b(b), loc(loc), context(context), target(target) {
    scopes.emplace_back();
  }

  /// Declares that `value` lies in memory at `pointer`, row-major, with the type's elements.
  /// Returns where it lay before.
  mlir::Value bindBuffer(mlir::Value value, mlir::Value pointer) {
    return std::exchange(buffers[value], pointer);
  }

  /// Declares that `value` is `element` at every index asked for in the current scope.
  void bindElement(mlir::Value value, mlir::Value element) { elements[value] = element; }

  /// Declares that from now on only that part's elements are asked for, which begin at `offset`.
  void bindPart(ConcatOp concat, unsigned part, mlir::Value offset) {
    parts[concat] = {part, offset};
  }

  /// Declares that it is `element` at `at` (of `lanes`, as `eval` takes them) in the current scope.
  void bindAt(mlir::Value value, const Indices &at, int64_t lanes, mlir::Value element) {
    scopes.back()[keyOf(value, at, lanes)] = element;
  }

  /// The value's element at `at`: a scalar where the index is uniform, else a vector of `lanes`.
  mlir::Value eval(mlir::Value value, const Indices &at, int64_t lanes);
  /// Where an operand that is broadcast to what has the index `at` is read.
  Indices broadcastIndex(mlir::Value operand, const Indices &at);
  /// Evaluates ahead whatever below `value` needs a loop of its own and does not depend on unknown
  /// coordinates.
  void hoist(mlir::Value value, const Indices &at);
  /// Gives `value` a row of scratch memory: the first reduction over its rows keeps the elements
  /// there on its way, and what needs them afterwards in the same row loads them.
  void keepRow(mlir::Value value, mlir::Value pointer) { rows[value] = {pointer, false}; }
  void forgetRows() { rows.clear(); }
  /// From now on loads of buffers that are walked row by row ask for what comes.
  void prefetchRows(const Prefetching &how) {
    prefetched.clear();
    prefetching = how;
  }
  /// A walk over a row begins.
  void beginWalk() { ++walk; }
  /// Stores to `pointer` from now on go past the caches: it is aligned to a register, and so is
  /// every store.
  void storePast(mlir::Value pointer, bool past) {
    past ? (void)pastCaches.insert(pointer) : (void)pastCaches.erase(pointer);
  }
  /// Stores `element` (as eval gives it) at `at` of a row-major buffer of `type`.
  void store(mlir::RankedTensorType type, mlir::Value pointer, const Indices &at,
             mlir::Value element, int64_t lanes);

  /// Values computed inside a scope are forgotten at its end (they do not dominate what follows).
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }

  /// Loops over [from, to), threading `init` through `body(at, accumulated)`.
  llvm::SmallVector<mlir::Value>
  range(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// `x`, an element of `value` computed in f32, rounded to the value's 16-bit element type if the
  /// kernel has to (passes/Rounding.h).
  mlir::Value rounded(mlir::Value value, mlir::Value x);
  /// A reduction's element from all of its terms combined: divided by their number for a mean, and
  /// rounded.
  mlir::Value finishReduce(ReduceOp op, mlir::Value total);
  mlir::Value combine(ReduceKind kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(ReduceKind kind, mlir::Type element, int64_t lanes);

  // Small builders.
  mlir::Value i64(int64_t value);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  Index constant(int64_t value) { return {i64(value), 0, nullptr, false}; }
  Index affine(const Index &x, int64_t scale, int64_t offset);
  Index add(const Index &a, const Index &b, int64_t lanes);
  mlir::Value asVector(const Index &x, int64_t lanes);
  /// How far each lane's place is from the first one's, in 32 bits.
  mlir::Value distances(int64_t step, int64_t lanes);
  mlir::Value binary(llvm::StringRef kind, mlir::Value a,
                     mlir::Value b); ///< i64 or vectors of it: add sub mul div rem min max

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value context;
  const Target &target;

private:
  friend struct ElementwiseEmitter;
  mlir::Value evalUncached(mlir::Value value, const Indices &at, int64_t lanes);
  /// The result of the operation that defines `value`, not rounded to a 16-bit element type.
  mlir::Value compute(mlir::Value value, const Indices &at, int64_t lanes);
  /// Where lanes differ in quotients alone, or in remainders: as many lanes as there are of these,
  /// each element repeated; null elsewhere.
  mlir::Value repeated(mlir::Value value, const Indices &at, int64_t lanes);
  mlir::Value load(mlir::Value value, mlir::Value pointer, const Indices &at, int64_t lanes);
  /// Goes back to what operations that only move elements take them from.
  void followMoves(mlir::Value &value, Indices &at, int64_t lanes);
  /// Lanes that lie side by side in memory where they are inside, else `other`; null where they do
  /// not, or where memory does not hold the value. Nothing outside is touched.
  mlir::Value loadInside(mlir::Value value, Indices at, mlir::Value inside, mlir::Value other,
                         int64_t lanes);
  /// Lanes of a small step: whole registers, of which elements are picked.
  mlir::Value loadNear(mlir::Type element, mlir::Value pointer, const Index &offset, int64_t lanes);
  /// For each lane the element at its place, of registers of `lanes` whose elements have the places
  /// from `firsts` on: each register from where the ones before it end, or earlier.
  mlir::Value pickPlaces(llvm::ArrayRef<mlir::Value> registers, llvm::ArrayRef<int64_t> firsts,
                         int64_t lanes, llvm::function_ref<int64_t(int64_t)> place);
  mlir::Value constantElement(ConstantOp op, const Indices &at, int64_t lanes);

  // One function per family; each maps the index and evaluates its operands there.
  mlir::Value elementwise(mlir::Operation *op, const Indices &at, int64_t lanes);
  mlir::Value move(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Lanes that take single elements of all parts in turn: each part in lanes of its own; null
  /// where they do not.
  mlir::Value takeInTurn(ConcatOp op, const Indices &at, int64_t lanes);
  /// Lanes along a gather whose places climb, picked from registers; null where they are not.
  mlir::Value climb(GatherOp op, const Indices &at, int64_t lanes);
  mlir::Value iota(IotaOp op, const Indices &at, int64_t lanes);
  mlir::Value comparePlaces(CompareOp op, const Indices &at, int64_t lanes);
  mlir::Value reduce(ReduceOp op, const Indices &at, int64_t lanes);
  mlir::Value contraction(mlir::Operation *op, const Indices &at, int64_t lanes);
  mlir::Value pool(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// The pool's elements before they are divided, or the convolution's before its bias is added;
  /// null where lanes do not lie along a row.
  mlir::Value poolAlongRow(mlir::Operation *op, ReduceKind kind, const Indices &at, int64_t lanes);
  mlir::Value convAlongRow(ConvOp op, const Indices &at, int64_t lanes);
  /// `make` of the parts of a row: with code of its own where all of them are inside.
  mlir::Value alongRow(mlir::Value from, const Windows &row, const Indices &at, int64_t lanes,
                       bool isTapByTap, llvm::function_ref<mlir::Value(const RowParts &)> make);
  /// What windows of results at `at` read of a row of `from`: a part for each tap, or for each
  /// register of what they span.
  std::optional<RowParts> partsOfRow(mlir::Value from, const Windows &row, const Indices &at,
                                     int64_t lanes, bool isTapByTap);
  /// The parts of the row that is read; `other` where it is outside.
  llvm::SmallVector<mlir::Value> loadParts(const RowParts &parts, const Read &read,
                                           mlir::Value other, IndexLowering &lowering,
                                           int64_t lanes);
  /// How many elements of each window count.
  mlir::Value countInWindows(AvgPoolOp op, const Indices &at, int64_t lanes);
  /// An element that a window reads, where it meets the operand; else `other`.
  mlir::Value windowed(mlir::Value x, IndexLowering &lowering, const Read &read, mlir::Value other,
                       int64_t lanes);

  Index linear(llvm::ArrayRef<int64_t> shape, const Indices &at, int64_t lanes);

  /// Loops over `extents` (row-major), threading `init` through `body(coordinates, accumulated)`.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<int64_t> extents, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>,
                                                          mlir::ValueRange)>
            body);

  /// Combines the terms over a box of coordinates (row-major `extents`), for several reductions at
  /// once. `terms(coordinates, lanes)` gives one value for each, a scalar or a vector of `lanes`.
  /// With `callerLanes` the results themselves have lanes and the coordinates stay scalar; else the
  /// last coordinate is walked with lanes. A `careful` sum takes many terms in blocks.
  using Terms = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<Index>, int64_t)>;
  llvm::SmallVector<mlir::Value> fold(llvm::ArrayRef<Fold> folds, llvm::ArrayRef<int64_t> extents,
                                      int64_t callerLanes, Terms terms, bool careful = true);
  mlir::Value fold(ReduceKind kind, mlir::Type element, llvm::ArrayRef<int64_t> extents,
                   int64_t callerLanes,
                   llvm::function_ref<mlir::Value(llvm::ArrayRef<Index>, int64_t)> term);
  /// `op` and the reductions over the same indices that can be taken in the same loop.
  llvm::SmallVector<ReduceOp> reducedTogether(ReduceOp op, const Indices &at, int64_t lanes);

  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);

  struct KeptRow {
    mlir::Value pointer;
    bool filled = false;
  };
  mlir::Value loadRow(mlir::Value value, mlir::Value pointer, const Index &at, int64_t lanes);

  using Key = std::vector<const void *>;
  static Key keyOf(mlir::Value value, const Indices &at, int64_t lanes);
  mlir::Value known(const Key &key) const;
  void hoist(mlir::Value value, const Indices &at, llvm::DenseSet<mlir::Value> &seen);
  void prefetch(mlir::Value value, mlir::Type element, mlir::Value pointer, mlir::Value offset,
                int64_t lanes);

  llvm::DenseMap<mlir::Value, mlir::Value> buffers, elements;
  llvm::DenseMap<mlir::Value, KeptRow> rows;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, mlir::Value>> parts;
  std::vector<std::map<Key, mlir::Value>> scopes;
  Prefetching prefetching;
  int walk = 0;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int, 2>>
      prefetched; ///< the walks that have loaded a buffer
  llvm::DenseSet<mlir::Value> pastCaches;
};

/// The type in which elements of `element` are computed: f32 for 16-bit floats, signless integers.
mlir::Type computeType(mlir::Type element);
/// The type of an element in memory: i8 for bool, signless integers, i16 for bf16.
mlir::Type storageType(mlir::Type element);
/// `type` or a vector of it.
mlir::Type withLanes(mlir::Type type, int64_t lanes);
bool isUnsigned(mlir::Type element);

/// Emits `function(x..)` on computed elements; see Math.h for the functions.
mlir::Value toCompute(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                      mlir::Type element);
mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc, mlir::Value computed,
                      mlir::Type element);
/// Rounds an element computed in f32 to f16 or bf16; the result is in f32 again.
mlir::Value roundElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type element);
/// Converts between computed elements of two element types as dlc.cast says.
mlir::Value castElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type from,
                        mlir::Type to);
/// One elementwise operation on computed operands (all scalar or all of `lanes`).
mlir::Value emitElement(Emitter &e, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_EMITTER_H

//===- Emitter.h - evaluates the body of a fusion element by element, on demand ---===//
//
// The body of a fusion is evaluated at the index of a result element: each operation maps that
// index to the indices of its operands, down to loads from the kernel's buffers. An index may
// denote several consecutive elements at once (lanes along one dimension). Values are then vectors.
// Row tails are not masked: a tail is a vector with exactly the remaining number of lanes.
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

/// Known structure of a vector of indices: it holds the quotients (first + lane) / by, or the
/// remainders, where `first` and the number of lanes are multiples of `by`. Each run of `by` lanes
/// then has one quotient, and all runs have the same remainders.
struct Runs {
  mlir::Value first; ///< i64
  int64_t by = 0;    ///< 0: no structure is known
  bool isRemainder = false;

  bool areOf(const Runs &other) const { return first == other.first && by == other.by; }
};

/// One coordinate of an index: base + lane * step for lane = 0, 1, .., or a vector of coordinates
/// if they have no constant step.
struct Index {
  mlir::Value base;     ///< i64
  int64_t step = 0;     ///< 0: the same for all lanes
  mlir::Value vec;      ///< vector<lanes x i64>; if set, base and step are ignored
  bool unknown = false; ///< not computed yet (used in the search for operations to hoist)
  Runs runs = {};       ///< structure of `vec`

  bool isUniform() const { return !vec && step == 0 && !unknown; }
};
using Indices = llvm::SmallVector<Index, 6>;

/// One of several reductions computed in the same loop: its combining operation and the element
/// type of its result.
struct Fold {
  ReduceKind kind;
  mlir::Type element;
};

/// How a kernel prefetches its inputs.
struct Prefetching {
  int64_t elements = 0; ///< size of the buffers that are prefetched; 0: no prefetch
  size_t walk = 1;      ///< which pass over a row prefetches (1: the first)
  int64_t ahead = 0;    ///< prefetch distance in elements
  /// If set, instead of `ahead`: prefetch the next `rows` rows of `row` elements each, one cache
  /// line of each row in turn, so that the hardware prefetcher follows each of these rows.
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

  /// Binds `value` to a row-major buffer of its type's elements at `pointer`. Returns the pointer
  /// that it was bound to before.
  mlir::Value bindBuffer(mlir::Value value, mlir::Value pointer) {
    return std::exchange(buffers[value], pointer);
  }

  /// Binds `value` to `element` at every index that is evaluated in the current scope.
  void bindElement(mlir::Value value, mlir::Value element) { elements[value] = element; }

  /// Declares that from now on only elements of operand `part` are evaluated. They start at
  /// `offset` along the axis of `concat`.
  void bindPart(ConcatOp concat, unsigned part, mlir::Value offset) {
    parts[concat] = {part, offset};
  }

  /// Binds `value` at index `at` to `element` in the current scope (`lanes` as in eval()).
  void bindAt(mlir::Value value, const Indices &at, int64_t lanes, mlir::Value element) {
    scopes.back()[keyOf(value, at, lanes)] = element;
  }

  /// Returns the value's element at `at`: a scalar if the index is uniform, else a vector of
  /// `lanes`.
  mlir::Value eval(mlir::Value value, const Indices &at, int64_t lanes);
  /// Returns the index at which `operand` is read if it is broadcast to a shape with the index
  /// `at`.
  Indices broadcastIndex(mlir::Value operand, const Indices &at);
  /// Evaluates all values below `value` that need their own loop and do not depend on unknown
  /// coordinates.
  void hoist(mlir::Value value, const Indices &at);
  /// Assigns a row of scratch memory to `value`. The first reduction over a row of it stores the
  /// elements there. Later uses in the same row load them.
  void keepRow(mlir::Value value, mlir::Value pointer) { rows[value] = {pointer, false}; }
  void forgetRows() { rows.clear(); }
  /// Lets loads from buffers that are walked row by row issue prefetches from now on.
  void prefetchRows(const Prefetching &how) {
    prefetched.clear();
    prefetching = how;
  }
  /// Starts the next walk over a row.
  void beginWalk() { ++walk; }
  /// Makes stores to `pointer` non-temporal from now on, or normal again. Non-temporal stores
  /// require `pointer` and each stored vector to be aligned to a vector register.
  void storeNonTemporal(mlir::Value pointer, bool past) {
    past ? (void)nonTemporal.insert(pointer) : (void)nonTemporal.erase(pointer);
  }
  /// Stores `element`, a result of eval(), at `at` of a row-major buffer of `type`.
  void store(mlir::RankedTensorType type, mlir::Value pointer, const Indices &at,
             mlir::Value element, int64_t lanes);

  /// Opens a scope. Values computed in it are forgotten at its end because they do not dominate the
  /// code that follows.
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }

  /// Emits a loop over [from, to) that threads `init` through `body(at, accumulated)`.
  llvm::SmallVector<mlir::Value>
  range(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// Rounds `x`, an element of `value` computed in f32, to the value's 16-bit element type if the
  /// kernel has to (passes/Rounding.h).
  mlir::Value rounded(mlir::Value value, mlir::Value x);
  /// Returns a reduction's result element for `total`, all of its terms combined: divides it by the
  /// number of terms for a mean, and rounds it.
  mlir::Value finishReduce(ReduceOp op, mlir::Value total);
  mlir::Value combine(ReduceKind kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(ReduceKind kind, mlir::Type element, int64_t lanes);

  // Helpers that create single operations.
  mlir::Value i64(int64_t value);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  Index constant(int64_t value) { return {i64(value), 0, nullptr, false}; }
  Index affine(const Index &x, int64_t scale, int64_t offset);
  Index add(const Index &a, const Index &b, int64_t lanes);
  mlir::Value asVector(const Index &x, int64_t lanes);
  /// Returns the vector 0, step, 2 * step, .. of `lanes` i32 elements.
  mlir::Value distances(int64_t step, int64_t lanes);
  mlir::Value binary(llvm::StringRef kind, mlir::Value a,
                     mlir::Value b); ///< i64 or vectors of i64: add sub mul div rem min max

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value context;
  const Target &target;

private:
  friend struct ElementwiseEmitter;
  mlir::Value evalUncached(mlir::Value value, const Indices &at, int64_t lanes);
  /// The result of the operation that defines `value`, not rounded to a 16-bit element type.
  mlir::Value compute(mlir::Value value, const Indices &at, int64_t lanes);
  /// Evaluates each distinct element once and repeats it by a shuffle if the lanes of `at` differ
  /// only in quotients or only in remainders (see Runs). Returns null in all other cases.
  mlir::Value repeated(mlir::Value value, const Indices &at, int64_t lanes);
  mlir::Value load(mlir::Value value, mlir::Value pointer, const Indices &at, int64_t lanes);
  /// Replaces `value` and `at` by the source of the operations that only move elements.
  void followMoves(mlir::Value &value, Indices &at, int64_t lanes);
  /// Loads adjacent elements by a masked load: lanes that are not `inside` are `other` and their
  /// memory is not accessed. Returns null if the elements are not contiguous or not in a buffer.
  mlir::Value loadInside(mlir::Value value, Indices at, mlir::Value inside, mlir::Value other,
                         int64_t lanes);
  /// Loads lanes with a small step by loading contiguous registers and shuffling them.
  mlir::Value loadNear(mlir::Type element, mlir::Value pointer, const Index &offset, int64_t lanes);
  /// Returns for each lane the element at position place(lane). Register i of `registers` has
  /// `lanes` elements and holds the positions from firsts[i] on. Each register starts at the end of
  /// the previous one or earlier.
  mlir::Value pickPlaces(llvm::ArrayRef<mlir::Value> registers, llvm::ArrayRef<int64_t> firsts,
                         int64_t lanes, llvm::function_ref<int64_t(int64_t)> place);
  mlir::Value constantElement(ConstantOp op, const Indices &at, int64_t lanes);

  // One function for each family of operations. Each maps the index and evaluates the operands
  // there.
  mlir::Value elementwise(mlir::Operation *op, const Indices &at, int64_t lanes);
  mlir::Value move(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Evaluates a concatenation of parts of size 1 as one vector per part and interleaves these
  /// vectors. Returns null if the lanes do not run along such a concatenation.
  mlir::Value interleaveParts(ConcatOp op, const Indices &at, int64_t lanes);
  /// Evaluates a gather with monotonic indices along the lanes by shuffles of registers. Returns
  /// null if this does not apply.
  mlir::Value gatherMonotonic(GatherOp op, const Indices &at, int64_t lanes);
  mlir::Value iota(IotaOp op, const Indices &at, int64_t lanes);
  mlir::Value comparePlaces(CompareOp op, const Indices &at, int64_t lanes);
  mlir::Value reduce(ReduceOp op, const Indices &at, int64_t lanes);
  mlir::Value contraction(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Returns an element at `at` of operand 0 or 1 of a contraction as it is multiplied: integers of
  /// 8 bits in i32, minus their zero point.
  mlir::Value factor(mlir::Operation *op, unsigned operand, mlir::Value element, const Indices &at,
                     int64_t lanes);
  mlir::Value pool(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Returns a pool's element before its division, or a convolution's before its bias is added.
  /// Returns null if the lanes do not run along a row.
  mlir::Value poolAlongRow(mlir::Operation *op, ReduceKind kind, const Indices &at, int64_t lanes);
  mlir::Value convAlongRow(ConvOp op, const Indices &at, int64_t lanes);
  /// Calls `make` on the registers that the windows read. Emits a separate branch without masks for
  /// windows that are entirely inside the row.
  mlir::Value alongRow(mlir::Value from, const Windows &row, const Indices &at, int64_t lanes,
                       bool isTapByTap, llvm::function_ref<mlir::Value(const RowParts &)> make);
  /// Returns the parts of a row of `from` that the windows of the results at `at` read: one for
  /// each tap, or one for each register of their span.
  std::optional<RowParts> partsOfRow(mlir::Value from, const Windows &row, const Indices &at,
                                     int64_t lanes, bool isTapByTap);
  /// Loads the parts of the row. Elements outside the row are `other`.
  llvm::SmallVector<mlir::Value> loadParts(const RowParts &parts, const Read &read,
                                           mlir::Value other, IndexLowering &lowering,
                                           int64_t lanes);
  /// Returns the number of elements of each window that count (`count_include_pad`).
  mlir::Value countInWindows(AvgPoolOp op, const Indices &at, int64_t lanes);
  /// Returns the element that a window reads if it is inside the operand; else `other`.
  mlir::Value windowed(mlir::Value x, IndexLowering &lowering, const Read &read, mlir::Value other,
                       int64_t lanes, mlir::Operation *integers = nullptr);

  Index linear(llvm::ArrayRef<int64_t> shape, const Indices &at, int64_t lanes);

  /// Emits loops over `extents` (row-major) that thread `init` through `body(coordinates,
  /// accumulated)`.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<int64_t> extents, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>,
                                                          mlir::ValueRange)>
            body);

  /// Combines the terms over a box of coordinates (row-major `extents`) for several reductions at
  /// once. `terms(coordinates, lanes)` returns one value per reduction, a scalar or a vector of
  /// `lanes`. If `callerLanes` is set, the results themselves have lanes and the coordinates remain
  /// scalar. Otherwise the last coordinate is vectorized. If `careful` is set, long sums are
  /// accumulated in blocks.
  using Terms = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<Index>, int64_t)>;
  llvm::SmallVector<mlir::Value> fold(llvm::ArrayRef<Fold> folds, llvm::ArrayRef<int64_t> extents,
                                      int64_t callerLanes, Terms terms, bool careful = true);
  mlir::Value fold(ReduceKind kind, mlir::Type element, llvm::ArrayRef<int64_t> extents,
                   int64_t callerLanes,
                   llvm::function_ref<mlir::Value(llvm::ArrayRef<Index>, int64_t)> term);
  /// Returns `op` and the reductions over the same indices that can be computed in the same loop.
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
      prefetched; ///< walks that have loaded from a buffer
  llvm::DenseSet<mlir::Value> nonTemporal;
};

/// Returns the type in which elements of `element` are computed: f32 for 16-bit floats, signless
/// integers for integers.
mlir::Type computeType(mlir::Type element);
/// Returns the type of an element in memory: i8 for bool, signless integers for integers, i16 for
/// bf16.
mlir::Type storageType(mlir::Type element);
/// Returns `type`, or a vector of it if `lanes` is not 0.
mlir::Type withLanes(mlir::Type type, int64_t lanes);
bool isUnsigned(mlir::Type element);

/// Convert elements between the type in which they are stored and the type in which they are
/// computed.
mlir::Value toCompute(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                      mlir::Type element);
mlir::Value toStorage(mlir::OpBuilder &b, mlir::Location loc, mlir::Value computed,
                      mlir::Type element);
/// Rounds an element computed in f32 to f16 or bf16. The result is an f32 again.
mlir::Value roundElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type element);
/// Converts computed elements between two element types with the semantics of dlc.cast.
mlir::Value castElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type from,
                        mlir::Type to);
/// Emits one elementwise operation on computed operands, all scalars or all vectors of the same
/// number of lanes.
mlir::Value emitElement(Emitter &e, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_EMITTER_H

//===- Emitter.h - evaluates the body of a fusion element by element, on demand ---===//
//
// Evaluates the body of a fusion on demand, at the index of a result element: each operation maps
// that index to the indices of its operands, down to loads from the kernel's buffers. An index may
// denote several consecutive elements (vector lanes along one dimension); the values are then
// vectors. The tail of a row is not masked: it is a vector with exactly the remaining number of
// lanes.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_EMIT_EMITTER_H
#define DLC_CODEGEN_CPU_EMIT_EMITTER_H

#include "codegen/cpu/target/Target.h"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/IndexMap.h"
#include "passes/fuse/analysis/Classify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

namespace dlc::cpu {

/// Structure of a vector of indices that is known at compile time. The lanes hold the quotients
/// (first + lane) / by, or the remainders (first + lane) % by. `first` and the number of lanes are
/// multiples of `by`. Therefore each run of `by` lanes has one quotient, and all runs have the same
/// remainders.
struct LaneRuns {
  mlir::Value first; ///< index of the first lane before the division by `by` (i64)
  int64_t by = 0;    ///< divisor, which is also the length of a run; 0: the structure is unknown
  bool isRemainder = false;

  bool areOf(const LaneRuns &other) const { return first == other.first && by == other.by; }
};

/// Coordinates of all vector lanes along one dimension: base + lane * step for lane = 0, 1, .., or
/// the vector `vec` if the coordinates have no constant step.
struct LaneIndex {
  mlir::Value base; ///< coordinate of lane 0 (i64)
  int64_t step = 0; ///< distance between adjacent lanes; 0: all lanes have the same coordinate
  mlir::Value vec;  ///< coordinates as a vector<lanes x i64>; if set, base and step are ignored
  /// Whether the coordinate is not emitted yet (in the search for values to hoist out of a loop).
  bool unknown = false;
  LaneRuns runs = {}; ///< structure of `vec` that is known at compile time

  bool isUniform() const { return !vec && step == 0 && !unknown; }
};
using Indices = llvm::SmallVector<LaneIndex, 6>;

/// One of several reductions that are computed in the same loop: its combining operation and the
/// element type of its result.
struct LoopReduction {
  ReduceKind kind;
  mlir::Type element;
};

/// Parameters of the software prefetches that a kernel issues for its inputs.
struct PrefetchParameters {
  int64_t elements = 0; ///< number of elements of the buffers that are prefetched; 0: no prefetch
  size_t walk = 1; ///< number of the pass over a row that issues the prefetches (1: the first pass)
  int64_t ahead = 0; ///< prefetch distance in elements
  /// Rows to prefetch. If `rows` is not 0, it replaces `ahead`: the kernel prefetches the next
  /// `rows` rows of `row` elements each. It prefetches one cache line of each row in turn, so that
  /// the hardware prefetcher detects each row as a stream.
  int64_t rows = 0, row = 0;
};

class IndexLowering;
struct WindowGeometry;
struct RowChunks;

class Emitter {
public:
  Emitter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value context, const Target &target)
      : b(b), loc(loc), context(context), target(target) {
    scopes.emplace_back();
  }

  /// Makes `value` a row-major buffer at `pointer` with the shape and element type of the value's
  /// tensor type. Returns the pointer that `value` was bound to before.
  mlir::Value bindBuffer(mlir::Value value, mlir::Value pointer) {
    return std::exchange(buffers[value], pointer);
  }

  /// Makes every read of `value` in the current scope return `element`, independent of the index.
  void bindElement(mlir::Value value, mlir::Value element) { elements[value] = element; }

  /// Declares that from now on only elements of operand `part` of the concatenation are evaluated.
  /// They start at `offset` along its axis.
  void bindPart(ConcatOp concat, unsigned part, mlir::Value offset) {
    parts[concat] = {part, offset};
  }

  /// Caches `element` as the element of `value` at index `at` in the current scope. `element` is a
  /// vector of `lanes`, or a scalar if the index is the same for all lanes.
  void bindAt(mlir::Value value, const Indices &at, int64_t lanes, mlir::Value element) {
    scopes.back()[keyOf(value, at, lanes)] = element;
  }

  /// Emits the element of `value` at index `at` and returns it: a scalar if the index is the same
  /// for all lanes, else a vector of `lanes` elements.
  mlir::Value eval(mlir::Value value, const Indices &at, int64_t lanes);
  /// Returns the index of the element of `operand` that is broadcast to index `at` of the broadcast
  /// shape.
  Indices broadcastIndex(mlir::Value operand, const Indices &at);
  /// Hoists loops out of the loop that follows: emits those reductions and contractions that
  /// `value` is computed from and that do not depend on unknown coordinates of `at`.
  void hoist(mlir::Value value, const Indices &at);
  /// Caches a row of `value` in scratch memory at `pointer`. The first reduction over a row stores
  /// the elements there. Later uses of the same row load them.
  void keepRow(mlir::Value value, mlir::Value pointer) { rows[value] = {pointer, false}; }
  void forgetRows() { rows.clear(); }
  /// Enables prefetches: from now on, loads from buffers that are read row by row also issue
  /// prefetches.
  void prefetchRows(const PrefetchParameters &how) {
    prefetched.clear();
    prefetching = how;
  }
  /// Starts the next pass over the current row.
  void beginWalk() { ++walk; }
  /// Makes stores to `pointer` non-temporal from now on if `past` is set, else normal. Non-temporal
  /// stores require `pointer` and each stored vector to be aligned to a vector register.
  void storeNonTemporal(mlir::Value pointer, bool past) {
    past ? (void)nonTemporal.insert(pointer) : (void)nonTemporal.erase(pointer);
  }
  /// Stores `element`, a result of eval(), at index `at` of the row-major buffer at `pointer`,
  /// which has the tensor type `type`.
  void store(mlir::RankedTensorType type, mlir::Value pointer, const Indices &at,
             mlir::Value element, int64_t lanes);

  /// Opens a scope of the cache of emitted values. Values emitted in the scope are discarded at its
  /// end because they do not dominate the code that follows.
  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }

  /// Emits an scf.for loop over [from, to) with the loop-carried values `init`. `body(at,
  /// accumulated)` emits the loop's body and returns the next loop-carried values.
  llvm::SmallVector<mlir::Value>
  range(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// Rounds `x`, an element of `value` computed in f32, to the value's 16-bit element type if the
  /// kernel must not have excess precision there (passes/Rounding.h).
  mlir::Value rounded(mlir::Value value, mlir::Value x);
  /// Returns the result element of a reduction, given the combination `total` of all terms. A mean
  /// is divided by the number of terms. The result is rounded to its element type.
  mlir::Value finishReduce(ReduceOp op, mlir::Value total);
  mlir::Value combine(ReduceKind kind, mlir::Type element, mlir::Value a, mlir::Value b);
  mlir::Value neutral(ReduceKind kind, mlir::Type element, int64_t lanes);

  // Helpers that emit single operations on indices.
  mlir::Value i64(int64_t value);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  LaneIndex constant(int64_t value) { return {i64(value), 0, nullptr, false}; }
  LaneIndex affine(const LaneIndex &x, int64_t scale, int64_t offset);
  LaneIndex add(const LaneIndex &a, const LaneIndex &b, int64_t lanes);
  mlir::Value asVector(const LaneIndex &x, int64_t lanes);
  /// Returns the constant vector 0, step, 2 * step, .. of `lanes` i32 elements.
  mlir::Value distances(int64_t step, int64_t lanes);
  /// Emits the operation `add`, `sub`, `mul`, `div`, `rem`, `min` or `max` on i64 or vectors of
  /// i64.
  mlir::Value binary(llvm::StringRef kind, mlir::Value a, mlir::Value b);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value context;
  const Target &target;

private:
  friend struct ElementwiseEmitter;
  friend struct MoveEmitter;
  mlir::Value evalUncached(mlir::Value value, const Indices &at, int64_t lanes);
  /// Emits the result element of the operation that defines `value`, without rounding to a 16-bit
  /// element type.
  mlir::Value compute(mlir::Value value, const Indices &at, int64_t lanes);
  /// Emits each distinct element once and repeats it by a shuffle if the lanes of `at` differ only
  /// in quotients or only in remainders (see LaneRuns). Returns null in all other cases.
  mlir::Value repeated(mlir::Value value, const Indices &at, int64_t lanes);
  mlir::Value load(mlir::Value value, mlir::Value pointer, const Indices &at, int64_t lanes);
  /// Traces `value` back through operations that only move elements (such as transposes and
  /// slices). Replaces `value` and `at` by the source tensor and the index in it.
  void followMoves(mlir::Value &value, Indices &at, int64_t lanes);
  /// Emits a masked load of adjacent elements. Lanes that are not set in the mask `inside` have the
  /// value `other`, and their memory is not accessed. Returns null if the elements are not
  /// contiguous or not in a buffer.
  mlir::Value loadInside(mlir::Value value, Indices at, mlir::Value inside, mlir::Value other,
                         int64_t lanes);
  /// Emits a strided load with a small stride: loads contiguous registers and shuffles the elements
  /// out of them.
  mlir::Value loadNear(mlir::Type element, mlir::Value pointer, const LaneIndex &offset,
                       int64_t lanes);
  /// Emits shuffles that select one element per lane from several registers: lane i gets the
  /// element at position place(i). Register i of `registers` has `lanes` elements and holds the
  /// positions from firsts[i] on. Registers may overlap, but there is no gap between two of them.
  mlir::Value pickPlaces(llvm::ArrayRef<mlir::Value> registers, llvm::ArrayRef<int64_t> firsts,
                         int64_t lanes, llvm::function_ref<int64_t(int64_t)> place);
  mlir::Value constantElement(ConstantOp op, const Indices &at, int64_t lanes);

  // Each function emits one family of operations: it maps the result index to operand indices and
  // evaluates the operands at these.
  mlir::Value elementwise(mlir::Operation *op, const Indices &at, int64_t lanes);
  mlir::Value move(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Emits a concatenation of operands of size 1 (a stack): evaluates one vector per operand and
  /// interleaves these vectors. Returns null if the lanes do not run along the concatenation's
  /// axis.
  mlir::Value interleaveParts(ConcatOp op, const Indices &at, int64_t lanes);
  /// Emits a gather with monotonic indices along the lanes by shuffles of registers instead of
  /// element loads. Returns null if the gather has no such indices.
  mlir::Value gatherMonotonic(GatherOp op, const Indices &at, int64_t lanes);
  mlir::Value iota(IotaOp op, const Indices &at, int64_t lanes);
  mlir::Value comparePlaces(CompareOp op, const Indices &at, int64_t lanes);
  mlir::Value reduce(ReduceOp op, const Indices &at, int64_t lanes);
  mlir::Value contraction(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Prepares an element at index `at` of operand 0 or 1 of a contraction for the multiplication:
  /// an 8-bit integer is extended to i32, and its zero point is subtracted.
  mlir::Value factor(mlir::Operation *op, unsigned operand, mlir::Value element, const Indices &at,
                     int64_t lanes);
  mlir::Value pool(mlir::Operation *op, const Indices &at, int64_t lanes);
  /// Emits the reduction of a pooling window with vector lanes along a row: a pool's element before
  /// the division of its mean, or a convolution's element before its bias is added. Returns null if
  /// the lanes do not run along a row.
  mlir::Value poolAlongRow(mlir::Operation *op, ReduceKind kind, const Indices &at, int64_t lanes);
  mlir::Value convAlongRow(ConvOp op, const Indices &at, int64_t lanes);
  /// Emits windows with vector lanes along a row by calling `make` with the registers that the
  /// windows read. Emits a separate branch without masks for windows that are entirely inside the
  /// row.
  mlir::Value alongRow(mlir::Value from, const WindowGeometry &row, const Indices &at,
                       int64_t lanes, bool isTapByTap,
                       llvm::function_ref<mlir::Value(const RowChunks &)> make);
  /// Returns the contiguous chunks of a row of `from` that the windows of the results at index `at`
  /// read: one chunk for each tap, or one for each register of the windows' span.
  std::optional<RowChunks> partsOfRow(mlir::Value from, const WindowGeometry &row,
                                      const Indices &at, int64_t lanes, bool isTapByTap);
  /// Loads the chunks of a row that windows read. Elements outside the row have the value `other`.
  llvm::SmallVector<mlir::Value> loadParts(const RowChunks &parts, const OperandRead &read,
                                           mlir::Value other, IndexLowering &lowering,
                                           int64_t lanes);
  /// Returns the number of elements that an average pool divides by in each window
  /// (`count_include_pad`).
  mlir::Value countInWindows(AvgPoolOp op, const Indices &at, int64_t lanes);
  /// Returns the element of the operand that a window reads, or `other` if the element is in the
  /// padding.
  mlir::Value windowed(mlir::Value x, IndexLowering &lowering, const OperandRead &read,
                       mlir::Value other, int64_t lanes, mlir::Operation *integers = nullptr);

  LaneIndex linear(llvm::ArrayRef<int64_t> shape, const Indices &at, int64_t lanes);

  /// Emits nested loops over `extents` (the first dimension is outermost) with the loop-carried
  /// values `init`. `body(coordinates, accumulated)` emits the innermost body and returns the next
  /// loop-carried values.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<int64_t> extents, mlir::ValueRange init,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<mlir::Value>,
                                                          mlir::ValueRange)>
            body);

  /// Emits several reductions over the same box of coordinates (`extents`, in row-major order).
  /// `terms(coordinates, lanes)` returns one term per reduction, a scalar or a vector of `lanes`.
  /// If `callerLanes` is not 0, each lane is a separate result and the coordinates remain scalar.
  /// Otherwise the last coordinate is vectorized. If `careful` is set, long sums are accumulated in
  /// blocks.
  using Terms =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<LaneIndex>, int64_t)>;
  llvm::SmallVector<mlir::Value> fold(llvm::ArrayRef<LoopReduction> folds,
                                      llvm::ArrayRef<int64_t> extents, int64_t callerLanes,
                                      Terms terms, bool careful = true);
  mlir::Value fold(ReduceKind kind, mlir::Type element, llvm::ArrayRef<int64_t> extents,
                   int64_t callerLanes,
                   llvm::function_ref<mlir::Value(llvm::ArrayRef<LaneIndex>, int64_t)> term);
  /// Returns the reductions that can be computed in the same loop as `op`, including `op`: those
  /// with the same indices.
  llvm::SmallVector<ReduceOp> reducedTogether(ReduceOp op, const Indices &at, int64_t lanes);

  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);

  struct KeptRow {
    mlir::Value pointer;
    bool filled = false;
  };
  mlir::Value loadRow(mlir::Value value, mlir::Value pointer, const LaneIndex &at, int64_t lanes);

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
  PrefetchParameters prefetching;
  int walk = 0;
  /// Passes over a row that have already loaded from each buffer.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int, 2>> prefetched;
  llvm::DenseSet<mlir::Value> nonTemporal;
};

/// Returns the type in which elements of type `element` are computed: f32 for 16-bit floats,
/// signless integers for integers; other types are unchanged.
mlir::Type getComputeType(mlir::Type element);
/// Returns the type of an element in memory: i8 for bool, signless integers for integers, i16 for
/// bf16; other floats are unchanged.
mlir::Type getStorageType(mlir::Type element);
/// Returns the vector type with `lanes` elements of `type`, or `type` itself if `lanes` is 0.
mlir::Type getScalarOrVectorType(mlir::Type type, int64_t lanes);
bool isUnsigned(mlir::Type element);

/// Convert an element from its type in memory to the type in which it is computed, and back.
mlir::Value convertToComputeType(mlir::OpBuilder &b, mlir::Location loc, mlir::Value stored,
                                 mlir::Type element);
mlir::Value convertToStorageType(mlir::OpBuilder &b, mlir::Location loc, mlir::Value computed,
                                 mlir::Type element);
/// Rounds an element that is computed in f32 to f16 or bf16 and extends the result to f32 again.
mlir::Value roundElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type element);
/// Converts elements that are already in their type of computation from the element type `from` to
/// `to`, with the semantics of dlc.cast.
mlir::Value castElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type from,
                        mlir::Type to);
/// Emits one elementwise operation, given the values of its operands: all scalars, or all vectors
/// with the same number of lanes.
mlir::Value emitElement(Emitter &e, mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_EMIT_EMITTER_H

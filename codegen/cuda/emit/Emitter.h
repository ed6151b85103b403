//===- Emitter.h - evaluates the body of a fusion as CUDA C++ text, on demand ---===//
//
// The body of a fusion is evaluated at the index of a result element: each operation maps that
// index to the indices of its operands, down to loads. A thread computes several consecutive
// elements in a loop over `lanes`. Loads of whole vectors are hoisted out of that loop. The
// schedules (Map, Rows, Split, Tiles) emit the loops and assign the threads. A reduction whose
// result no schedule has provided by seed() becomes a loop in the thread that needs it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_EMIT_EMITTER_H
#define DLC_CODEGEN_CUDA_EMIT_EMITTER_H

#include "codegen/cuda/emit/Text.h"
#include "codegen/cuda/emit/Types.h"
#include "ir/dlc/Contraction.h"
#include "ir/dlc/IndexMap.h"

#include <functional>
#include <optional>
#include <set>

namespace dlc::cuda {

using Expr = IndexExpr;
using Atom = IndexAtom;
using Indices = Coordinates;

/// Row-major tensor in memory.
struct Buffer {
  std::string name;
  mlir::Type element;
  int64_t alignment = 16; ///< alignment of the buffer's address in bytes
  /// If more than 1: number of partial results per element. They are stored one after the other and
  /// combined when an element is read.
  int64_t parts = 1;
};

class Emitter {
public:
  Emitter(IndentedText &t, const std::string &indexType) : t(t), indexType(indexType) {
    scopes.emplace_back();
  }

  void bind(mlir::Value value, Buffer buffer) { buffers[value] = std::move(buffer); }
  bool isBound(mlir::Value value) const { return buffers.count(value); }
  /// Makes eval() return `text` for the element of `value` at index `at`, until the end of the
  /// current scope.
  void seed(mlir::Value value, const Indices &at, const std::string &text) {
    scopes.back()[keyOf(value, at)] = text;
  }
  /// Makes eval() return `text` for all elements of `value`.
  void seedAll(mlir::Value value, const std::string &text) { everywhere[value] = text; }

  /// Returns the text of the value's element in its compute type: a variable name or a literal.
  std::string eval(mlir::Value value, const Indices &at);
  /// If the value's element is an element of a buffer, read without conditions and without
  /// computation, returns the buffer and the offset. Otherwise returns nothing.
  std::optional<std::pair<Buffer, Expr>> place(mlir::Value value, const Indices &at);

  /// Appends to `found` the buffer elements from which `value` is computed by elementwise
  /// operations and operations that move elements.
  using Reads = std::vector<std::pair<mlir::Value, Indices>>;
  void reads(mlir::Value value, const Indices &at, Reads &found);

  /// Emits `pointer[offset] = element`.
  void store(const Buffer &to, const Expr &offset, const std::string &element);
  /// Emits stores of `width` consecutive elements, which are in the `dk::vec` named `vector`: a
  /// single store if the buffer is sufficiently aligned.
  void storeVector(const Buffer &to, const Expr &offset, int64_t width, const std::string &vector);

  /// Emits a loop over `width` consecutive elements (vector lanes); `body` gets the lane. Loads of
  /// whole vectors are hoisted before the loop.
  void lanes(int64_t width, llvm::function_ref<void(Expr)> body);
  /// Emits nested loops over `extents`, the last one innermost.
  void loops(llvm::ArrayRef<int64_t> extents, llvm::function_ref<void(llvm::ArrayRef<Expr>)> body);
  /// Emits one loop, whose first value `from` and increment `step` are text. The loop variable is
  /// less than `size`.
  void loop(const std::string &from, int64_t size, const std::string &step,
            llvm::function_ref<void(Expr)> body, bool unroll = false);

  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }
  unsigned depth() const { return scopes.size(); }
  /// Declares a variable of the kernel's index type with a value in [low, high].
  Expr variable(llvm::StringRef prefix, const std::string &value, int64_t low, int64_t high);
  Expr freshAtom(const std::string &name, int64_t low, int64_t high) {
    return x.variable(name, low, high, depth());
  }
  /// Emits `const type name = text;` and returns the name.
  std::string let(const std::string &type, const std::string &text);

  /// Returns the operand elements from which the operation's result at `at` is computed, for the
  /// reduction index `over`. Indices that are elements of index tensors (gather) are loaded.
  llvm::SmallVector<OperandRead, 2> readsOf(mlir::Operation *op, const Indices &at,
                                            llvm::ArrayRef<Expr> over = {});
  /// Returns those conditions of a read's guards that are not always true.
  llvm::SmallVector<std::string> conditionsOf(const OperandRead &read);

  /// Emits `body` inside an `if` with the conditions, or unconditionally if there are none.
  void guarded(const llvm::SmallVectorImpl<std::string> &conditions,
               llvm::function_ref<void()> body);

  static std::string combine(ReduceKind kind, mlir::Type element, const std::string &a,
                             const std::string &b);
  static std::string neutral(ReduceKind kind, mlir::Type element);
  static std::string functor(ReduceKind kind);
  /// Variables in which a thread accumulates the terms of a reduction sequentially. Sums of many
  /// floats are compensated: they also accumulate the rounding error.
  struct Accumulator {
    std::string name;
    ReduceKind kind;
    mlir::Type sum;
    bool careful;
  };
  /// Declares an accumulator or, if `array` is not 0, an array of `array` accumulators. `at` is the
  /// index of an accumulator in the array.
  Accumulator gather(ReduceKind kind, mlir::Type sum, int64_t terms, int64_t array = 0);
  void gatherTerm(const Accumulator &g, const std::string &term, const std::string &at = "");
  std::string gathered(const Accumulator &g, const std::string &at = "") const;
  /// Returns the element type in which the terms of a reduction are accumulated.
  static mlir::Type sumType(ReduceOp op);
  /// Returns the text of an element of `value` that was computed in f32. It is rounded to the
  /// value's 16-bit element type if passes/Rounding.h requires this.
  std::string rounded(mlir::Value value, const std::string &text);
  /// Returns the result element of a reduction from its combined terms `total`; a mean is divided
  /// by the count.
  std::string finishReduce(ReduceOp op, const std::string &total);
  std::string cast(const std::string &text, mlir::Type from, mlir::Type to);
  /// Returns the text of the number of window elements by which an average is divided
  /// (`count_include_pad`). For an average pool, `at` is the index of the result; for its gradient,
  /// the index of `dy`.
  std::string averaged(AvgPoolOp op, const Indices &at);
  std::string averaged(AvgPoolGradOp op, const Indices &at);

  IndentedText &t;
  IndexContext x;
  std::string indexType;
  /// Declarations of constant tables, which precede the kernel.
  std::string tables;
  std::string tablePrefix;
  /// Names of the buffers that the emitted text accesses, and of those that it writes.
  std::set<std::string> used, written;

private:
  using Key = std::string;
  static Key keyOf(mlir::Value value, const Indices &at);
  std::string evalUncached(mlir::Value value, const Indices &at);
  /// Returns the text of the result of the operation that defines `value`, before it is rounded to
  /// a 16-bit element type.
  std::string compute(mlir::Value value, const Indices &at);
  std::string load(const Buffer &from, const Expr &offset);
  std::string loadParts(mlir::Value value, const Buffer &from, const Expr &offset);

  std::string elementwise(mlir::Operation *op, const Indices &at);
  std::string constant(ConstantOp op, const Indices &at);
  std::string move(mlir::Operation *op, const Indices &at);
  std::string random(RandomOp op, const Indices &at);
  std::string reduce(ReduceOp op, const Indices &at);
  std::string argReduce(ArgReduceOp op, const Indices &at);
  /// Returns an element of operand 0 or 1 of a contraction, converted for multiplication: integers
  /// in i32, minus their zero point.
  std::string factor(mlir::Operation *op, unsigned operand, const Indices &at);
  std::string contraction(mlir::Operation *op, const Indices &at);
  std::string maxPool(mlir::Operation *op, mlir::Value result, const Indices &at);
  std::string avgPool(AvgPoolOp op, const Indices &at);
  std::string poolGrad(mlir::Operation *op, const Indices &at);

  std::string sum(mlir::Type element, llvm::ArrayRef<int64_t> extents,
                  llvm::function_ref<void(llvm::ArrayRef<Expr>, const std::string &total)> term);

  struct LaneLoop {
    const Atom *atom;
    int64_t width;
    unsigned depth, indentation, conditions;
  };

  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, std::string> everywhere;
  std::vector<std::map<Key, std::string>> scopes;
  std::optional<LaneLoop> lane;
  unsigned conditions = 0;
};

/// Returns the text of an elementwise operation that is applied to the texts of its operands.
std::string formatElement(Emitter &e, mlir::Operation *op, llvm::ArrayRef<std::string> operands);

} // namespace dlc::cuda
#endif

//===- Emitter.h - a fusion's body as text, pulled element by element ------===//
//
// The body of a fusion is evaluated at the index of a result element: each operation maps that
// index to the indices of its operands, down to loads. A thread computes several neighbouring
// elements by a loop over `lanes`; loads that are whole vectors are then taken out of that loop.
// Loops and threads are the schedules' business (Map, Rows, Split, Contract); a reduction that no
// schedule has computed ahead (seed) is a loop of the thread that needs it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CUDA_EMITTER_H
#define DLC_CODEGEN_CUDA_EMITTER_H

#include "codegen/cuda/Text.h"
#include "codegen/cuda/Types.h"
#include "ir/dlc/IndexMap.h"

#include <functional>
#include <optional>
#include <set>

namespace dlc::cuda {

using Expr = IndexExpr;
using Atom = IndexAtom;
using Indices = Coordinates;

/// A value in memory, row-major.
struct Buffer {
  std::string name;
  mlir::Type element;
  int64_t alignment = 16; ///< bytes
  /// More than one: so many partial results lie behind one another, to be combined for an element.
  int64_t parts = 1;
};

class Emitter {
public:
  Emitter(Text &t, const std::string &indexType) : t(t), indexType(indexType) {
    scopes.emplace_back();
  }

  void bind(mlir::Value value, Buffer buffer) { buffers[value] = std::move(buffer); }
  bool isBound(mlir::Value value) const { return buffers.count(value); }
  /// `value` at `at` is `text`, from here to the end of the scope.
  void seed(mlir::Value value, const Indices &at, const std::string &text) {
    scopes.back()[keyOf(value, at)] = text;
  }
  /// `value` is `text` at every index.
  void seedAll(mlir::Value value, const std::string &text) { everywhere[value] = text; }

  /// The value's element in its compute type: a name or a literal.
  std::string eval(mlir::Value value, const Indices &at);
  /// The offset of the element in memory when the value is nothing but a buffer's element read
  /// without conditions; nothing else.
  std::optional<std::pair<Buffer, Expr>> place(mlir::Value value, const Indices &at);

  /// The elements in memory that `value` is elementwise made of, moved or not.
  using Reads = std::vector<std::pair<mlir::Value, Indices>>;
  void reads(mlir::Value value, const Indices &at, Reads &found);

  /// `pointer[offset] = element`.
  void store(const Buffer &to, const Expr &offset, const std::string &element);
  /// The same of the neighbours that a `dk::vec` of so many elements holds: at once, where the
  /// buffer is aligned to that.
  void storeVector(const Buffer &to, const Expr &offset, int64_t width, const std::string &vector);

  /// The loop over lanes: `body` gets the lane. Vectors of `width` elements are loaded before it.
  void lanes(int64_t width, llvm::function_ref<void(Expr)> body);
  /// Loops over `extents`, row-major.
  void loops(llvm::ArrayRef<int64_t> extents, llvm::function_ref<void(llvm::ArrayRef<Expr>)> body);
  /// One loop; `step` and `from` are text, the variable lies in [0, size).
  void loop(const std::string &from, int64_t size, const std::string &step,
            llvm::function_ref<void(Expr)> body, bool unroll = false);

  void pushScope() { scopes.emplace_back(); }
  void popScope() { scopes.pop_back(); }
  unsigned depth() const { return scopes.size(); }
  /// A variable of the kernel's index type.
  Expr variable(llvm::StringRef prefix, const std::string &value, int64_t low, int64_t high);
  Expr freshAtom(const std::string &name, int64_t low, int64_t high) {
    return x.variable(name, low, high, depth());
  }
  /// `const type name = text;`
  std::string let(const std::string &type, const std::string &text);

  /// What the operation's result at `at` is made of, in its term `over`; elements of index tensors
  /// are computed.
  llvm::SmallVector<Read, 2> readsOf(mlir::Operation *op, const Indices &at,
                                     llvm::ArrayRef<Expr> over = {});
  /// What of a read's guards is not known.
  llvm::SmallVector<std::string> conditionsOf(const Read &read);

  /// `body` under conditions; none: without.
  void guarded(const llvm::SmallVectorImpl<std::string> &conditions,
               llvm::function_ref<void()> body);

  static std::string combine(ReduceKind kind, mlir::Type element, const std::string &a,
                             const std::string &b);
  static std::string neutral(ReduceKind kind, mlir::Type element);
  static std::string functor(ReduceKind kind);
  /// Variables in which terms are gathered, one after the other by a thread. Sums of many floats
  /// keep what rounding takes.
  struct Gathered {
    std::string name;
    ReduceKind kind;
    mlir::Type sum;
    bool careful;
  };
  /// `array`: so many of them; `at` then says which.
  Gathered gather(ReduceKind kind, mlir::Type sum, int64_t terms, int64_t array = 0);
  void gatherTerm(const Gathered &g, const std::string &term, const std::string &at = "");
  std::string gathered(const Gathered &g, const std::string &at = "") const;
  /// The element type in which a reduction's terms are summed up.
  static mlir::Type sumType(ReduceOp op);
  /// The text of an element of `value` computed in f32, rounded to the value's 16-bit element type
  /// if the kernel has to (passes/Rounding.h).
  std::string rounded(mlir::Value value, const std::string &text);
  /// A reduction's element from its combined terms.
  std::string finishReduce(ReduceOp op, const std::string &total);
  std::string cast(const std::string &text, mlir::Type from, mlir::Type to);
  /// How many places count of the window at the position: of an average, `at` is the result's
  /// index; of its gradient, that of `dy`.
  std::string averaged(AvgPoolOp op, const Indices &at);
  std::string averaged(AvgPoolGradOp op, const Indices &at);

  Text &t;
  IndexContext x;
  std::string indexType;
  /// Tables that stand before the kernel.
  std::string tables;
  std::string tablePrefix;
  /// Names of the buffers that the text touches, and of those that it writes.
  std::set<std::string> used, written;

private:
  using Key = std::string;
  static Key keyOf(mlir::Value value, const Indices &at);
  std::string evalUncached(mlir::Value value, const Indices &at);
  /// The result of the operation that defines `value`, not rounded to a 16-bit element type.
  std::string compute(mlir::Value value, const Indices &at);
  std::string load(const Buffer &from, const Expr &offset);
  std::string loadParts(mlir::Value value, const Buffer &from, const Expr &offset);

  std::string elementwise(mlir::Operation *op, const Indices &at);
  std::string constant(ConstantOp op, const Indices &at);
  std::string move(mlir::Operation *op, const Indices &at);
  std::string random(RandomOp op, const Indices &at);
  std::string reduce(ReduceOp op, const Indices &at);
  std::string argReduce(ArgReduceOp op, const Indices &at);
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

/// One elementwise operation on computed operands.
std::string elementText(Emitter &e, mlir::Operation *op, llvm::ArrayRef<std::string> operands);

/// A convolution's bias, if it has one.
mlir::Value biasOf(mlir::Operation *contraction);

} // namespace dlc::cuda
#endif

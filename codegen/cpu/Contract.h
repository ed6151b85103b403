//===- Contract.h - generated matrix products -------------------------------===//
//
// C[b, m, n] = epilogue(sum over k of A[b, m, k] * B[b, k, n]), by a register block of rows of
// broadcasts against a panel of two vectors of columns. B lies in panels of K rows by
// `panelColumns`: packed when the program is compiled if B is constant, else by the kernel itself,
// panel after panel.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_CONTRACT_H
#define DLC_CODEGEN_CPU_CONTRACT_H

#include "codegen/cpu/Target.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace dlc::cpu {

/// One dimension of the batch; strides count elements and are 0 where an operand is broadcast.
struct BatchDim {
  int64_t size = 1, strideA = 0, strideB = 0, strideC = 0;
};

struct ContractSpec {
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<BatchDim, 2> batch; ///< outermost first
  /// Elements between neighbours along a dimension. A transposed operand is one with its strides
  /// swapped; C is contiguous along n.
  int64_t strideAm = 1, strideAk = 1;
  int64_t strideBk = 1, strideBn = 1;
  int64_t strideCm = 1;
  /// f32, bf16, f16, f64 or i8 (beside f32); sums are in f64 if either is f64, else in f32. Or
  /// integers: of 8 bits, and packed ones also i32 that 16 bits hold; sums are in i32.
  mlir::Type elementA, elementB;
  /// B is given as `packB` leaves it; or, of integers, A as `packA` does.
  bool packedB = false, packedA = false;

  bool sumsIntegers() const { return elementA.isInteger(); }
  /// Products that a step adds to a sum: these elements lie side by side where they are packed.
  int64_t together() const { return sumsIntegers() ? 2 : 1; }
  int64_t steps() const { return (k + together() - 1) / together(); }

  /// Whether all of the batch read the same operand, which that stride belongs to.
  bool isShared(int64_t BatchDim::*stride) const {
    return llvm::all_of(batch, [&](const BatchDim &dim) { return dim.*stride == 0; });
  }
  int64_t batchSize() const {
    int64_t size = 1;
    for (const BatchDim &dim : batch)
      size *= dim.size;
    return size;
  }
};

struct ContractPlan {
  /// How the runtime calls the kernel, and the memory that each thread gets, aligned to 64 bytes.
  int64_t extent = 1, grain = 1, scratchBytes = 0;
  /// Size of the operand that is packed before; 0: none is.
  int64_t packedBytes = 0;

  // The schedule.
  int64_t lanes = 8;          ///< of the type of the sums
  int64_t panelColumns = 16;  ///< two vectors; more where few rows meet a B that is not packed
  int64_t panels = 1;         ///< the last may be narrower
  int64_t blocks = 1;         ///< of rows; heights differ by one at most
  int64_t blocksPerChunk = 1; ///< a unit of work is one panel by one chunk of blocks
  int64_t chunks = 1;
  /// Steps of a panel that are kept in cache while all blocks of a chunk use them.
  int64_t kBlock = 1;
  bool packsA = false; ///< a chunk of A is copied to scratch
  bool packsB = false; ///< a panel of B is copied to scratch
  /// One row of A meets rows of B as they lie, a few at a time, each as long as a wide panel.
  bool walksRows = false;
  bool keepsSums = false;                ///< sums of a chunk by a panel go through scratch
  int64_t scratchB = 0, scratchSums = 0; ///< where in scratch; packed A is at 0

  int64_t kBlocks(int64_t steps) const { return (steps + kBlock - 1) / kBlock; }
  int64_t blockHeight() const { return (rows + blocks - 1) / blocks; } ///< of the taller ones
  int64_t tallBlocks() const { return rows - rows / blocks * blocks; }
  int64_t rows = 1;
};

/// Whether the processor has instructions for sums of integers.
bool sumsIntegers(const Target &target);

/// `hasEpilogue` says whether emitContract will be given one.
ContractPlan planContract(const ContractSpec &spec, const Target &target, bool hasEpilogue);

/// Fills `packed` (plan.packedBytes) from a constant B laid out as the spec's strides say.
void packB(const ContractSpec &spec, const ContractPlan &plan, const void *b, void *packed);

/// The same from a constant A of integers.
void packA(const ContractSpec &spec, const ContractPlan &plan, const void *a, void *packed);
/// Elements of `bytes` each from one row of A to the next where a kernel copies it: odd in lines,
/// so that rows spread over the cache's sets.
int64_t packedRowA(const ContractSpec &spec, int64_t bytes);

/// Turns sums into elements of C. `sums` is a vector, `column` that of its first lane; what is
/// returned has as many lanes and the element type of C. Indices are i64; `batch` is linear. Called
/// when the kernel is emitted, once for each place that stores (four at most).
using Epilogue = std::function<mlir::Value(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums,
                                           mlir::Value batch, mlir::Value row, mlir::Value column)>;

struct ContractOperands {
  mlir::Value a, b, c;             ///< !llvm.ptr
  mlir::Value begin, end, scratch; ///< the kernel's own arguments
  /// Of integers: i32, what is taken from their elements, so that 16 bits hold them; null: nothing.
  mlir::Value zeroA, zeroB;
};

/// Emits the work of a kernel at the builder's insertion point: units [begin, end) of plan.extent.
/// Without an epilogue the sums are stored as they are.
void emitContract(mlir::OpBuilder &b, mlir::Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan,
                  const Epilogue &epilogue = nullptr);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACT_H

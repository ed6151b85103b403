//===- Contract.h - generated matrix multiplication kernels (GEMM) --------===//
//
// C[b, m, n] = epilogue(sum over k of A[b, m, k] * B[b, k, n]). The inner kernel multiplies a
// register block of broadcast elements of several rows of A by a panel of B that is two vectors
// wide. B is stored in panels of K rows by `panelColumns`. A constant B is packed at compile time.
// Otherwise the kernel packs one panel after the other.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_CONTRACT_H
#define DLC_CODEGEN_CPU_CONTRACT_H

#include "codegen/cpu/Target.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace dlc::cpu {

/// One batch dimension. Strides count elements and are 0 if an operand is broadcast.
struct BatchDim {
  int64_t size = 1, strideA = 0, strideB = 0, strideC = 0;
};

struct ContractSpec {
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<BatchDim, 2> batch; ///< outermost first
  /// Strides in elements along each dimension. A transposed operand has its strides swapped. C is
  /// contiguous along n.
  int64_t strideAm = 1, strideAk = 1;
  int64_t strideBk = 1, strideBn = 1;
  int64_t strideCm = 1;
  /// Floats: f32, bf16, f16, f64, or i8 if the other operand is f32. Sums are in f64 if either
  /// operand is f64, else in f32. Integers: 8-bit types, or, for packed operands, i32 values that
  /// fit in 16 bits. Sums are in i32.
  mlir::Type elementA, elementB;
  /// Whether B has the layout that `packB` writes, or, for integers, A has the layout that `packA`
  /// writes.
  bool packedB = false, packedA = false;

  bool sumsIntegers() const { return elementA.isInteger(); }
  /// Number of products that one step adds to a sum. Their elements are adjacent in packed
  /// operands.
  int64_t pairSize() const { return sumsIntegers() ? 2 : 1; }
  int64_t steps() const { return (k + pairSize() - 1) / pairSize(); }

  /// Returns whether all batch elements read the same operand, the one that `stride` belongs to.
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
  /// Work units and minimum units per thread of the parallel loop, and the scratch memory of each
  /// thread, aligned to 64 bytes.
  int64_t extent = 1, grain = 1, scratchBytes = 0;
  /// Size of the operand that is packed at compile time; 0 if there is none.
  int64_t packedBytes = 0;

  // Parameters of the schedule.
  int64_t lanes = 8;          ///< lanes of a vector of sums
  int64_t panelColumns = 16;  ///< two vectors; more if few rows are multiplied by an unpacked B
  int64_t panels = 1;         ///< number of panels; the last one may be narrower
  int64_t blocks = 1;         ///< number of row blocks; their heights differ by at most one
  int64_t blocksPerChunk = 1; ///< a work unit is one panel by one chunk of row blocks
  int64_t chunks = 1;
  /// Number of steps of a panel that stay in cache while all row blocks of a chunk use them.
  int64_t kBlock = 1;
  bool packsA = false; ///< whether a chunk of A is copied to scratch
  bool packsB = false; ///< whether a panel of B is copied to scratch
  /// Whether the kernel is a GEMV on an unpacked B: one row of A by a few rows of B at a time, over
  /// a wide panel of columns.
  bool walksRows = false;
  bool keepsSums = false;                ///< whether sums of a chunk by a panel are kept in scratch
  int64_t scratchB = 0, scratchSums = 0; ///< byte offsets in scratch; packed A is at 0

  int64_t kBlocks(int64_t steps) const { return (steps + kBlock - 1) / kBlock; }
  int64_t blockHeight() const { return (rows + blocks - 1) / blocks; } ///< of the taller ones
  int64_t tallBlocks() const { return rows - rows / blocks * blocks; }
  int64_t rows = 1;
};

/// Returns whether the processor has the instructions for integer sums (`pmaddwd`).
bool sumsIntegers(const Target &target);

/// Computes the schedule. `hasEpilogue`: whether emitContract will get an epilogue.
ContractPlan planContract(const ContractSpec &spec, const Target &target, bool hasEpilogue);

/// Fills `packed` (plan.packedBytes) from a constant B with the strides of the spec.
void packB(const ContractSpec &spec, const ContractPlan &plan, const void *b, void *packed);

/// Fills `packed` from a constant integer A.
void packA(const ContractSpec &spec, const ContractPlan &plan, const void *a, void *packed);
/// Returns the row stride, in elements of `bytes` each, of the copy of A in scratch. It is an odd
/// number of cache lines, so that rows are spread over the cache's sets.
int64_t packedRowA(const ContractSpec &spec, int64_t bytes);

/// Converts sums to elements of C. `sums` is a vector, and `column` is the column of its first
/// lane. The result has the same number of lanes and the element type of C. Indices are i64;
/// `batch` is linear. The function is called while the kernel is emitted, once for each store that
/// is emitted.
using Epilogue = std::function<mlir::Value(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums,
                                           mlir::Value batch, mlir::Value row, mlir::Value column)>;

struct ContractOperands {
  mlir::Value a, b, c;             ///< !llvm.ptr
  mlir::Value begin, end, scratch; ///< the kernel's arguments
  /// Integer zero points of A and B as i32, which are subtracted from their elements; the
  /// differences fit in 16 bits. Null: no zero point.
  mlir::Value zeroA, zeroB;
};

/// Emits the body of a kernel at the builder's insertion point: units [begin, end) of plan.extent.
/// Without an epilogue, the sums are stored unchanged.
void emitContract(mlir::OpBuilder &b, mlir::Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan,
                  const Epilogue &epilogue = nullptr);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACT_H

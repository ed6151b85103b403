//===- Contract.h - generated matrix multiplication kernels (GEMM) --------===//
//
// Computes C[b, m, n] = epilogue(sum over k of A[b, m, k] * B[b, k, n]). The inner kernel
// multiplies a register block (several rows of A, one broadcast element at a time) by a panel of B
// that is two vectors wide. A panel of B has K rows of `panelColumns` elements. A constant B is
// packed into panels at compile time. Otherwise the kernel packs one panel after the other.
//
// Matmuls of 8-bit integers with a packed B use `vpdpbusd` where the processor has it: four
// products of an unsigned and a signed byte per lane. Signed elements of A are stored plus 128 and
// unsigned elements of B minus 128, and the sums are corrected by the zero points:
//   sum((a - zeroA) * (b - zeroB)) = sum(a * b) - zeroA * sum(b) - zeroB * (sum(a) - K * zeroA).
// Otherwise the elements are extended to 16 bits (`pmaddwd`).
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_CONTRACT_CONTRACT_H
#define DLC_CODEGEN_CPU_CONTRACT_CONTRACT_H

#include "codegen/cpu/target/Target.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace dlc::cpu {

/// One batch dimension of a batched matmul. Strides count elements. The stride of an operand that
/// is broadcast along the dimension is 0.
struct BatchDim {
  int64_t size = 1, strideA = 0, strideB = 0, strideC = 0;
};

struct ContractSpec {
  int64_t m = 1, n = 1, k = 1;
  llvm::SmallVector<BatchDim, 2> batch; ///< batch dimensions, outermost first
  /// Strides of A, B and C along m, n and k, in elements. A transposed operand has its two strides
  /// swapped. C is contiguous along n.
  int64_t strideAm = 1, strideAk = 1;
  int64_t strideBk = 1, strideBn = 1;
  int64_t strideCm = 1;
  /// Element types of A and B. Floats: f32, bf16, f16, f64, or i8 if the other operand is f32; the
  /// accumulators are f64 if either operand is f64, else f32. Integers: 8-bit types, or, for packed
  /// operands, i32 values that fit in 16 bits; the accumulators are i32.
  mlir::Type elementA, elementB;
  /// Whether B has the layout that `packB` writes. Whether A has the layout that `packA` writes
  /// (integer matmuls only).
  bool packedB = false, packedA = false;

  bool sumsIntegers() const { return elementA.isInteger(); }

  /// Returns whether all elements of the batch share one operand, because its batch strides are 0.
  /// `stride` selects the operand.
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
  /// Work units of the parallel loop, minimum number of units per thread, and bytes of scratch
  /// memory per thread, which is aligned to 64 bytes.
  int64_t extent = 1, grain = 1, scratchBytes = 0;
  /// Bytes of the constant operand that is packed at compile time; 0 if no operand is packed.
  int64_t packedBytes = 0;

  // Parameters of the schedule (instructions, blocking, packing and scratch memory).

  /// Whether the kernel multiplies bytes (`vpdpbusd`: unsigned elements of A by signed elements of
  /// a packed B).
  bool multipliesBytes = false;
  /// Number of adjacent elements along k that one instruction multiplies and adds to an
  /// accumulator: 4 bytes (`vpdpbusd`), 2 integers of 16 bits (`pmaddwd`), or 1 float. These
  /// elements are adjacent in packed operands.
  int64_t groupSize = 1;
  /// Number of groups of `groupSize` elements in K; the last one may be incomplete.
  int64_t steps = 1;
  int64_t lanes = 8; ///< number of lanes of an accumulator register
  /// Number of columns of a panel of B: two vectors, or more if few rows are multiplied by an
  /// unpacked B.
  int64_t panelColumns = 16;
  int64_t panels = 1; ///< number of panels of B; the last one may have fewer columns
  /// Number of blocks of adjacent rows of A. The heights of the blocks differ by at most one row.
  int64_t blocks = 1;
  /// Number of row blocks per chunk; a work unit multiplies one chunk by one panel.
  int64_t blocksPerChunk = 1;
  int64_t chunks = 1;
  /// Number of steps along k in a cache block. These rows of a panel remain in cache while all row
  /// blocks of a chunk are multiplied by them.
  int64_t kBlock = 1;
  bool packsA = false; ///< whether a chunk of rows of A is copied to scratch memory
  bool packsB = false; ///< whether a panel of B is copied to scratch memory
  /// Whether the kernel is a GEMV that reads B unpacked, row by row: it multiplies one row of A by
  /// a few rows of a wide panel of B at a time.
  bool walksRows = false;
  bool keepsSums = false; ///< whether accumulators are kept in scratch memory
  /// Byte offsets in scratch memory; packed A is at 0. scratchRowSums: the sum over k of each row
  /// of a packed A, as i32.
  int64_t scratchB = 0, scratchSums = 0, scratchRowSums = 0;

  int64_t kBlocks() const { return (steps + kBlock - 1) / kBlock; }
  /// Returns the maximum number of rows in a row block.
  int64_t blockHeight() const { return (rows + blocks - 1) / blocks; }
  int64_t tallBlocks() const { return rows - rows / blocks * blocks; }
  int64_t rows = 1;
};

/// Returns whether the processor supports integer matmuls (the `pmaddwd` instruction).
bool supportsIntegerMatmul(const Target &target);

/// Computes the schedule of a matmul. `hasEpilogue`: whether an epilogue will be passed to
/// emitContract.
ContractPlan planContract(const ContractSpec &spec, const Target &target, bool hasEpilogue);

/// Packs a constant operand B, which has the strides of `spec`, into panels. If the kernel
/// multiplies bytes, unsigned elements are stored minus 128, and each panel is followed by the sums
/// of its columns over k, as i32. `packed` has plan.packedBytes bytes.
void packB(const ContractSpec &spec, const ContractPlan &plan, const void *b, void *packed);

/// Packs a constant integer operand A, which has the strides of `spec`. `packed` has
/// plan.packedBytes bytes.
void packA(const ContractSpec &spec, const ContractPlan &plan, const void *a, void *packed);
/// Returns the row stride of the copy of A in scratch memory, in elements of `bytes` bytes. The
/// stride is an odd number of cache lines, so that the rows map to different cache sets.
int64_t getPackedRowStrideA(const ContractSpec &spec, int64_t bytes);

/// Callback that emits the epilogue: it converts a vector of accumulators (`sums`) to elements of
/// C. `column` is the column of the vector's first lane. The returned vector has the same number of
/// lanes and the element type of C. Indices are i64; `batch` is the linear index in the batch. The
/// callback is called once for each store to C that is emitted.
using Epilogue = std::function<mlir::Value(mlir::OpBuilder &b, mlir::Location loc, mlir::Value sums,
                                           mlir::Value batch, mlir::Value row, mlir::Value column)>;

struct ContractOperands {
  mlir::Value a, b, c;             ///< pointers to A, B and C (!llvm.ptr)
  mlir::Value begin, end, scratch; ///< range [begin, end) of work units, and scratch memory
  /// Zero points of integer operands, as i32. They are subtracted from the elements, and the
  /// differences fit in 16 bits. Null: no zero point.
  mlir::Value zeroA, zeroB;
};

/// Emits the body of a matmul kernel at the builder's insertion point. The kernel computes the work
/// units [begin, end) of plan.extent. Without an epilogue, the accumulators are stored to C
/// unchanged.
void emitContract(mlir::OpBuilder &b, mlir::Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan,
                  const Epilogue &epilogue = nullptr);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_CONTRACT_CONTRACT_H

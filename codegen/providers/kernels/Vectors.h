//===- Vectors.h - common parts of the vectorized matmul providers --------===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELS_VECTORS_H
#define DLC_CODEGEN_PROVIDERS_KERNELS_VECTORS_H

#include "codegen/providers/Provider.h"
#include "codegen/providers/kernels/MatmulCall.h"

namespace dlc {

/// Returns the properties of the matmul kernel for vectors of `lanes` elements, without weight
/// packing.
MatmulKernel makeVectorKernel(llvm::StringRef name, int64_t lanes, bool strassen = false);
/// Returns true if the target has FMA vector instructions, or if scalar kernels are used.
bool supportsVectorKernels(const CandidateCollector &collector);
/// Returns the number of lanes of the target's matmul kernels, which have at least 8 lanes.
int64_t getVectorKernelLanes(const CandidateCollector &collector);
std::optional<MatmulDescription> describeForVectors(mlir::Operation *op, int64_t lanes,
                                                    const Refusal &refuse);
/// Total microseconds of a call whose multiplications take this many nanoseconds, including the
/// time to stream packed weights.
double addWeightStreamingTime(const LibraryCall &call, double nanoseconds, const CostModel &cost);

} // namespace dlc
#endif

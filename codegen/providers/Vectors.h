//===- Vectors.h - what products in vectors have in common -----------------===//
#ifndef DLC_CODEGEN_PROVIDERS_VECTORS_H
#define DLC_CODEGEN_PROVIDERS_VECTORS_H

#include "codegen/providers/OwnProduct.h"
#include "codegen/providers/Provider.h"

namespace dlc {

/// Without packed weights.
OwnKernel vectorKernel(llvm::StringRef name, int64_t lanes);
/// Whether the code may use them.
bool hasVectors(const Proposals &proposals);
std::optional<Product> describeForVectors(mlir::Operation *op, int64_t lanes, const Refusal &no);
/// Microseconds of so many nanoseconds of sums, weights from memory beside them.
double endedBesideWeights(const LibraryCall &call, double nanoseconds, const CostModel &cost);

} // namespace dlc
#endif

//===- Schedules.h - schedules of a matmul's panels -----------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_SCHEDULES_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_SCHEDULES_H

#include "runtime/library/products/Operands.h"

namespace dlc::products {

std::unique_ptr<runtime::LibraryCall> makeBlocked(Operands operands, int threads);
std::unique_ptr<runtime::LibraryCall> makeStrassen(Operands operands, int threads);

/// Throws dlc::Error if the matmul cannot use Strassen's algorithm.
void checkStrassen(const MatmulDesc &product);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_SCHEDULES_H

//===- FilePages.h - memory of mapped files that tensors borrow -----------===//
#ifndef DLC_IR_TENSOR_FILEPAGES_H
#define DLC_IR_TENSOR_FILEPAGES_H

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace dlc::ref {

/// The buffer, known as one whose pages can be dropped where it is a mapped file.
std::shared_ptr<llvm::MemoryBuffer> withFilePages(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Gives back the memory of the pages that lie within the bytes, where they are a mapped file's:
/// whoever reads them again has them again. Weights that are packed would be in memory twice else.
/// Bytes of other memory stay as they are.
void dropFilePages(const void *data, size_t bytes);

} // namespace dlc::ref

#endif // DLC_IR_TENSOR_FILEPAGES_H

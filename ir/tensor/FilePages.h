//===- FilePages.h - releases the pages of memory-mapped files ------------===//
#ifndef DLC_IR_TENSOR_FILEPAGES_H
#define DLC_IR_TENSOR_FILEPAGES_H

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace dlc::ref {

/// Registers the buffer if it is a memory-mapped file, so that dropFilePages can release its pages.
std::shared_ptr<llvm::MemoryBuffer> registerFilePages(std::unique_ptr<llvm::MemoryBuffer> buffer);

/// Releases the resident pages of a registered mapped file that are entirely inside the given byte
/// range. The operating system reads the pages from the file again on the next access. Without
/// this, packed weights would be in memory twice. Has no effect on other memory.
void dropFilePages(const void *data, size_t bytes);

} // namespace dlc::ref

#endif // DLC_IR_TENSOR_FILEPAGES_H

//===- FilePages.cpp - releases the pages of memory-mapped files ----------===//
#include "ir/tensor/FilePages.h"

#include "llvm/Support/Alignment.h"
#include "llvm/Support/Process.h"

#include <map>
#include <mutex>
#include <sys/mman.h>

namespace dlc::ref {

namespace {

/// Address ranges of the memory-mapped files.
class MappedRanges {
public:
  void add(uintptr_t first, uintptr_t end) {
    std::lock_guard lock(mutex);
    ends[first] = end;
  }
  void remove(uintptr_t first) {
    std::lock_guard lock(mutex);
    ends.erase(first);
  }
  /// Releases the pages in [first, end) if they are inside one mapping. The lock prevents the file
  /// from being unmapped at the same time.
  void drop(uintptr_t first, uintptr_t end) {
    std::lock_guard lock(mutex);
    auto next = ends.upper_bound(first);
    if (next != ends.begin() && end <= std::prev(next)->second)
      madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
  }

private:
  std::mutex mutex;
  std::map<uintptr_t, uintptr_t> ends;
};

MappedRanges &mappedRanges() {
  static auto *known = new MappedRanges; // never destroyed: buffers may outlive static objects
  return *known;
}

uintptr_t addressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }

} // namespace

std::shared_ptr<llvm::MemoryBuffer> registerFilePages(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  if (buffer->getBufferKind() != llvm::MemoryBuffer::MemoryBuffer_MMap)
    return buffer;
  uintptr_t first = addressOf(buffer->getBufferStart());
  mappedRanges().add(first, addressOf(buffer->getBufferEnd()));
  return {buffer.release(), [first](llvm::MemoryBuffer *mapped) {
            mappedRanges().remove(first);
            delete mapped;
          }};
}

void dropFilePages(const void *data, size_t bytes) {
  llvm::Align page(llvm::sys::Process::getPageSizeEstimate());
  uintptr_t first = llvm::alignTo(addressOf(data), page),
            end = (addressOf(data) + bytes) & ~uintptr_t(page.value() - 1);
  if (first < end)
    mappedRanges().drop(first, end);
}

} // namespace dlc::ref

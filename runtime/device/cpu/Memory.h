//===- Memory.h - arenas and executable memory -------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_MEMORY_H
#define DLC_RUNTIME_DEVICE_CPU_MEMORY_H

#include "dlc/Export.h"
#include "runtime/program/Program.h"

#include <cstddef>

namespace dlc::runtime {

/// Owning handle of zero-initialized anonymous memory, aligned to a page. From 2 MiB on it is
/// aligned to a huge page, and transparent huge pages are requested (madvise).
class DLC_EXPORT Block {
public:
  Block() = default;
  /// Allocates `bytes` bytes. Throws dlc::MemoryError if this exceeds the machine's memory or the
  /// allocation fails. `purpose` is part of the message.
  Block(size_t bytes, const char *purpose);
  ~Block();
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept;

  char *data() const { return start; }
  size_t size() const { return bytes; }

private:
  char *start = nullptr;
  size_t bytes = 0;
  void *mapping = nullptr;
  size_t mappedBytes = 0;
};

/// Returns the program's code in executable memory: the code's own mapping if it is already
/// executable, otherwise a copy.
Span executableCode(const Program &program);

/// Returns the whole pages within a memory range to the operating system. Their contents are lost.
void releasePages(void *from, uint64_t bytes);

/// Requests permission from the Linux kernel to use the AMX tile registers. Required once per
/// process before the first AMX instruction.
bool requestTilePermission();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_MEMORY_H

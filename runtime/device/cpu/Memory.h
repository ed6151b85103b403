//===- Memory.h - the arena, and code made executable -------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_MEMORY_H
#define DLC_RUNTIME_DEVICE_CPU_MEMORY_H

#include "dlc/Export.h"
#include "runtime/program/Program.h"

#include <cstddef>

namespace dlc::runtime {

/// Anonymous memory, aligned to a page and, from 2 MiB on, to a huge page that the system is asked
/// for.
class DLC_EXPORT Block {
public:
  Block() = default;
  /// Throws dlc::Error where the machine has not so much memory. `purpose` names it in the message.
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

/// The program's code mapped for execution (as it is, if it already was).
Span executableCode(const Program &program);

/// Whole pages within memory of the caller's whose contents nobody needs any more.
void givePagesBack(void *from, uint64_t bytes);

/// Asks the kernel for the AMX tile state, which a process must do once before using tiles.
bool enableTiles();

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_MEMORY_H

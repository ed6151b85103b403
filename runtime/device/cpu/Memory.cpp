//===- Memory.cpp - arenas and executable memory -----------------------------===//
#include "runtime/device/cpu/Memory.h"

#include "dlc/MemoryError.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace dlc::runtime {

static constexpr size_t kHugePage = size_t(2) << 20;

Block::Block(size_t wanted, const char *purpose) {
  if (wanted == 0)
    return;
  // Check the size first: because of overcommit, mmap would succeed for more memory than the
  // machine has, and the process would be killed later.
  uint64_t physical = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (wanted > physical)
    throw MemoryError(message("the program needs ", wanted, " bytes for its ", purpose,
                              "; the machine has ", physical,
                              "; reduce the batch or the sizes of the inputs"));
  bool huge = wanted >= kHugePage;
  bytes = wanted;
  mappedBytes = format::alignUp(wanted, huge ? kHugePage : format::kPage) + (huge ? kHugePage : 0);
  mapping = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    mapping = nullptr;
    throw MemoryError(message("cannot allocate ", wanted, " bytes for the program's ", purpose,
                              ": ", std::strerror(errno)));
  }
  start = static_cast<char *>(mapping);
  if (huge) {
    start =
        reinterpret_cast<char *>(format::alignUp(reinterpret_cast<uintptr_t>(mapping), kHugePage));
    madvise(start, format::alignUp(wanted, kHugePage), MADV_HUGEPAGE);
  }
}

Block::~Block() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

Block &Block::operator=(Block &&other) noexcept {
  std::swap(start, other.start);
  std::swap(bytes, other.bytes);
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  return *this;
}

void releasePages(void *from, uint64_t bytes) {
  uintptr_t start = format::alignUp(reinterpret_cast<uintptr_t>(from), format::kPage);
  uintptr_t end = (reinterpret_cast<uintptr_t>(from) + bytes) / format::kPage * format::kPage;
  if (start < end)
    madvise(reinterpret_cast<void *>(start), end - start, MADV_DONTNEED);
}

Span executableCode(const Program &program) {
  const Span &code = program.code;
  if (program.codeIsExecutable || code.bytes == 0)
    return code;
  size_t bytes = format::alignUp(code.bytes, format::kPage);
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw MemoryError(message("cannot allocate ", bytes,
                              " bytes for the program's code: ", std::strerror(errno)));
  Span mapped{memory, code.bytes, std::shared_ptr<const void>(memory, [bytes](const void *p) {
                munmap(const_cast<void *>(p), bytes);
              })};
  std::memcpy(memory, code.data, code.bytes);
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0)
    fail("cannot make the program's code executable: ", std::strerror(errno));
  return mapped;
}

bool requestTilePermission() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

} // namespace dlc::runtime

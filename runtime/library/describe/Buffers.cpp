//===- Buffers.cpp - checks of a call's buffers ---------------------------===//
#include "runtime/library/describe/Buffers.h"

#include "runtime/program/Message.h"

namespace dlc::describe {

using runtime::fail;

void BufferChecker::need(const char *name, int64_t elements, uint64_t each, bool written) {
  if (next >= given.size())
    fail(library, ": no buffer for '", name, "': found ", given.size(), " buffers");
  uint64_t needed = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(elements), each, &needed) ||
      given[next].bytes < needed)
    fail(library, ": buffer ", next, " ('", name, "') has ", given[next].bytes,
         " bytes; required: ", needed);
  if (written && !given[next].writable)
    fail(library, ": buffer ", next, " ('", name,
         "') is written, but is part of a constant or an input");
  ++next;
}

void BufferChecker::end() const {
  if (next != given.size())
    fail(library, ": required: ", next, " buffers; found: ", given.size());
}

int64_t computeExtent(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  __int128 last = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    last += static_cast<__int128>(dims[d] - 1) * strides[d];
  if (last >= (static_cast<__int128>(1) << 60))
    fail("strides ", runtime::formatList(strides), " over ", runtime::formatList(dims),
         " exceed the address range");
  return static_cast<int64_t>(last) + 1;
}

} // namespace dlc::describe

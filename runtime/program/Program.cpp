//===- Program.cpp - copies and hashes of byte spans -------------------------===//
#include "runtime/program/Program.h"

#include "runtime/program/Format.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace dlc::runtime {

Span copyToOwnedSpan(const void *data, size_t bytes) {
  size_t allocated = format::alignUp(bytes ? bytes : 1, 64);
  void *memory = std::aligned_alloc(64, allocated);
  if (!memory)
    throw std::bad_alloc();
  if (bytes)
    std::memcpy(memory, data, bytes);
  return {memory, bytes, std::shared_ptr<const void>(memory, [](const void *p) {
            std::free(const_cast<void *>(p));
          })};
}

uint64_t format::hashBytes(const void *data, size_t bytes, uint64_t seed) {
  constexpr uint64_t multiplier = 0x9E3779B97F4A7C15ull;
  uint64_t hash = seed ^ (bytes * multiplier);
  auto mix = [&](uint64_t word) {
    // Both steps are bijective in `hash`, so inputs that differ in one word always have different
    // hashes.
    hash = (hash ^ word) * multiplier;
    hash ^= hash >> 29;
  };
  const char *at = static_cast<const char *>(data);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (bytes)
    std::memcpy(&rest, at, bytes);
  mix(rest);
  return hash ^ (hash >> 32);
}

} // namespace dlc::runtime

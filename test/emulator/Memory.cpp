//===- Memory.cpp - device memory of an emulated GPU --------------------------===//
#include "test/emulator/Memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace dlc_emulated {

namespace {

constexpr uint64_t rangeBytes = uint64_t{1} << 40;
constexpr uint64_t page = 4096, alignment = 256;
constexpr unsigned char tail = 0xc5;
/// Number of leading bytes of an allocation that are filled with NaN.
constexpr uint64_t spoiled = 16 << 20;

void *reserve() {
  void *range =
      mmap(nullptr, rangeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::perror("emulated GPU: no address space");
    std::abort();
  }
  return range;
}

uint64_t roundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

} // namespace

Memory::Memory(uint64_t capacity)
    : limit(capacity), view(reinterpret_cast<Address>(reserve())),
      truth(static_cast<char *>(reserve())) {}

Memory::~Memory() {
  munmap(reinterpret_cast<void *>(view), rangeBytes);
  munmap(truth, rangeBytes);
}

Address Memory::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > limit || taken + bytes > limit)
    return 0;
  uint64_t mapped = roundUp(bytes, page);
  if (next + mapped + page > rangeBytes)
    return 0;
  if (mmap(truth + next, mapped, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return 0;
  // The allocation ends at a page boundary, or as close to it as the alignment permits.
  uint64_t offset = next + mapped - roundUp(bytes, alignment);
  std::memset(truth + offset, 0xff, std::min(bytes, spoiled));
  std::memset(truth + offset + bytes, tail, next + mapped - offset - bytes);
  Address address = view + offset;
  allocations[address] = {bytes, next, mapped};
  taken += bytes;
  next += mapped + page;
  return address;
}

bool Memory::release(Address address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  const Allocation &a = found->second;
  if (mmap(truth + a.begin, a.mapped, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    return false;
  taken -= a.bytes;
  allocations.erase(found);
  return true;
}

char *Memory::find(Address address, uint64_t bytes) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const auto &[start, a] = *std::prev(after);
  if (address - start > a.bytes || bytes > a.bytes - (address - start))
    return nullptr;
  return real(address);
}

bool Memory::mine(Address address) const { return address - view < rangeBytes; }

std::string Memory::damage() const {
  for (const auto &[start, a] : allocations) {
    const char *end = real(start) + a.bytes, *stop = truth + a.begin + a.mapped;
    for (const char *at = end; at < stop; ++at)
      if (static_cast<unsigned char>(*at) != tail) {
        char text[128];
        std::snprintf(text, sizeof(text), "%lld bytes after the %llu bytes at 0x%llx were written",
                      static_cast<long long>(at - end), static_cast<unsigned long long>(a.bytes),
                      start);
        return text;
      }
  }
  return {};
}

} // namespace dlc_emulated

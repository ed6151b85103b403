//===- Format.h - byte layout of a .dlcx file --------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_FORMAT_H
#define DLC_RUNTIME_PROGRAM_FORMAT_H

#include <cstddef>
#include <cstdint>

namespace dlc::runtime::format {

inline constexpr char kMagic[8] = {'D', 'L', 'C', 'X', '\r', '\n', '\x1a', '\n'};
inline constexpr uint32_t kVersion = 2;
inline constexpr uint32_t kMaxSections = 16;
inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kConstantAlignment = 64;
/// Maximum size of a constants section that is hashed. Hashing a larger section would read pages
/// that otherwise stay unread in the mapping.
inline constexpr uint64_t kHashedConstants = 4 << 20;
inline constexpr uint64_t kMaxManifest = uint64_t(1) << 30;

enum SectionKind : uint32_t { Manifest = 1, Constants = 2, Code = 3, Ir = 4 };
enum SectionFlags : uint32_t { Hashed = 1 };

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sectionCount;
  uint64_t fileBytes;
  uint64_t tableHash;
};
static_assert(sizeof(Header) == 32);

struct Section {
  uint32_t kind;
  uint32_t flags;
  uint64_t offset;
  uint64_t bytes;
  uint64_t hash;
};
static_assert(sizeof(Section) == 32);

constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Returns a hash that detects accidental corruption, not malicious changes. Any change of a single
/// word changes the hash.
uint64_t hashBytes(const void *data, size_t bytes, uint64_t seed = 0);

} // namespace dlc::runtime::format

#endif // DLC_RUNTIME_PROGRAM_FORMAT_H

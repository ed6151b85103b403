//===- Npz.cpp - reads NumPy .npz archives -----------------------------------===//
#include "runtime/data/Npz.h"

#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"

#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

namespace dlc::runtime {

namespace {

constexpr uLong kStored = 0, kDeflated = 8;
/// Maximum compression ratio of deflate. If the uncompressed size in a header exceeds it, the
/// header is invalid and is rejected before memory is allocated.
constexpr uint64_t kDeflateRatio = 1032;
constexpr size_t kEndRecordBytes = 22;

struct Archive {
  explicit Archive(const std::string &path) : file(unzOpen64(path.c_str())) {}
  ~Archive() { unzClose(file); }
  Archive(const Archive &) = delete;
  Archive &operator=(const Archive &) = delete;
  unzFile file;
};

struct ArchiveMember {
  std::string name;
  unz_file_info64 info;
};

ArchiveMember readCurrentMember(Archive &archive, const std::string &path) {
  ArchiveMember member;
  char name[1024];
  if (unzGetCurrentFileInfo64(archive.file, &member.info, name, sizeof name - 1, nullptr, 0,
                              nullptr, 0) != UNZ_OK)
    fail("'", path, "': the .zip directory is damaged");
  if (member.info.size_filename >= sizeof name)
    fail("'", path, "': the name of a member has ", member.info.size_filename, " bytes");
  name[member.info.size_filename] = '\0';
  member.name = name;
  return member;
}

Span mapStoredMember(Archive &archive, const ArchiveMember &member, const MappedFile &mapped) {
  uint64_t begin = unzGetCurrentFileZStreamPos64(archive.file);
  if (member.info.compressed_size != member.info.uncompressed_size)
    fail("'", mapped.path(), "': member '", member.name,
         "' is uncompressed, but its two sizes differ");
  Span span = mapped.slice(begin, member.info.uncompressed_size);
  uLong sum = crc32_z(0, static_cast<const Bytef *>(span.data), span.bytes);
  if (sum != member.info.crc)
    fail("'", mapped.path(), "': member '", member.name,
         "' does not match its checksum: the file is damaged");
  return span;
}

Span inflateMember(Archive &archive, const ArchiveMember &member, const MappedFile &mapped) {
  uint64_t bytes = member.info.uncompressed_size;
  if (member.info.compressed_size > mapped.size() ||
      bytes > (member.info.compressed_size + 1) * kDeflateRatio)
    fail("'", mapped.path(), "': member '", member.name, "' of ", member.info.compressed_size,
         " bytes is too small for its ", bytes, " uncompressed bytes: the file is damaged");
  std::shared_ptr<void> memory(std::aligned_alloc(64, (bytes + 64) / 64 * 64), std::free);
  if (!memory)
    throw std::bad_alloc();
  uint64_t at = 0;
  while (at < bytes) {
    unsigned wanted = static_cast<unsigned>(std::min<uint64_t>(bytes - at, 1u << 30));
    int got = unzReadCurrentFile(archive.file, static_cast<char *>(memory.get()) + at, wanted);
    if (got <= 0)
      fail("'", mapped.path(), "': member '", member.name, "' cannot be decompressed beyond byte ",
           at, " of ", bytes, ": the file is damaged");
    at += static_cast<uint64_t>(got);
  }
  return {memory.get(), bytes, memory};
}

NpyArray readMember(Archive &archive, const ArchiveMember &member, const MappedFile &mapped) {
  const std::string where = mapped.path() + ":" + member.name;
  if (member.info.flag & 1)
    fail("'", where, "' is encrypted; required: a plain .npz");
  if (member.info.compression_method != kStored && member.info.compression_method != kDeflated)
    fail("'", where, "' has compression method ", member.info.compression_method,
         "; required: none or deflate (numpy.savez, numpy.savez_compressed)");
  if (unzOpenCurrentFile(archive.file) != UNZ_OK)
    fail("'", where, "': its local header contradicts the directory: the file is damaged");
  Span bytes = member.info.compression_method == kStored ? mapStoredMember(archive, member, mapped)
                                                         : inflateMember(archive, member, mapped);
  if (unzCloseCurrentFile(archive.file) == UNZ_CRCERROR)
    fail("'", where, "' does not match its checksum: the file is damaged");
  return parseNpy(bytes, where);
}

} // namespace

std::vector<std::pair<std::string, NpyArray>> readNpz(const std::string &path) {
  MappedFile mapped(path); // reports the error if the file cannot be opened
  std::vector<std::pair<std::string, NpyArray>> arrays;
  // An empty archive consists of the end record only, which minizip rejects and NumPy accepts.
  if (mapped.size() == kEndRecordBytes && std::memcmp(mapped.data(), "PK\5\6", 4) == 0)
    return arrays;
  Archive archive(path);
  if (!archive.file)
    fail("'", path, "' is not a .npz file: it has no .zip directory; numpy.savez makes one");
  std::set<std::string> names;
  int status = unzGoToFirstFile(archive.file);
  for (; status == UNZ_OK; status = unzGoToNextFile(archive.file)) {
    ArchiveMember member = readCurrentMember(archive, path);
    if (!member.name.ends_with(".npy"))
      fail("'", path, "': member '", member.name,
           "' is not an array; required: names that end in .npy");
    std::string name = member.name.substr(0, member.name.size() - 4);
    if (!names.insert(name).second)
      fail("'", path, "': two arrays are named '", name, "'");
    arrays.emplace_back(name, readMember(archive, member, mapped));
  }
  if (status != UNZ_END_OF_LIST_OF_FILE)
    fail("'", path, "': the .zip directory is damaged after ", arrays.size(), " members");
  return arrays;
}

} // namespace dlc::runtime

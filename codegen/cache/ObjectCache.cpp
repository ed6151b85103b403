//===- ObjectCache.cpp - content-addressed cache of machine code ----------===//
#include "codegen/cache/ObjectCache.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace dlc {

namespace {

constexpr char kMagic[8] = {'d', 'l', 'c', 'k', 'e', 'r', 'n', '1'};

struct Header {
  char magic[8];
  uint64_t keyBytes, codeBytes, entry, codeHash;
};

std::string hex(llvm::StringRef text) {
  auto hash = llvm::xxh3_128bits(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

} // namespace

std::string compilerIdentity() {
  std::string identity = "dlc 0.1 llvm " LLVM_VERSION_STRING;
  Dl_info info;
  struct stat status;
  // dladdr may return the program's name as it was typed, without the folder in which the shell
  // found it in PATH.
  bool found = dladdr(reinterpret_cast<void *>(&compilerIdentity), &info) && info.dli_fname &&
               llvm::StringRef(info.dli_fname).contains('/') && stat(info.dli_fname, &status) == 0;
  if (found || stat("/proc/self/exe", &status) == 0)
    identity += " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) +
                "." + std::to_string(status.st_mtim.tv_nsec);
  return identity;
}

ObjectCache::ObjectCache(std::string name) : folder(std::move(name)) {
  if (folder.empty())
    return;
  folder += "/objects";
  // If the folder cannot be created (read-only home folder, full disk), the compilation does not
  // use a cache.
  if (llvm::sys::fs::create_directories(folder))
    folder.clear();
}

std::string ObjectCache::pathOf(llvm::StringRef key) const {
  return folder + "/" + hex(key) + ".bin";
}

std::optional<cpu::MachineCode> ObjectCache::find(llvm::StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(pathOf(key), false, false);
  if (!file)
    return std::nullopt;
  llvm::StringRef all = (*file)->getBuffer();
  Header header;
  if (all.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, all.data(), sizeof header);
  llvm::StringRef rest = all.drop_front(sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.keyBytes != key.size() ||
      rest.size() < key.size() || rest.take_front(key.size()) != key)
    return std::nullopt;
  llvm::StringRef code = rest.drop_front(key.size());
  if (code.size() != header.codeBytes || llvm::xxh3_64bits(code) != header.codeHash ||
      header.entry >= code.size())
    return std::nullopt;
  return cpu::MachineCode{code.str(), header.entry};
}

void ObjectCache::store(llvm::StringRef key, const cpu::MachineCode &code) {
  if (folder.empty())
    return;
  Header header{{}, key.size(), code.bytes.size(), code.entry, llvm::xxh3_64bits(code.bytes)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  int fd;
  llvm::SmallString<128> temporary;
  if (llvm::sys::fs::createUniqueFile(folder + "/new-%%%%%%%%%%", fd, temporary))
    return;
  std::string all(reinterpret_cast<const char *>(&header), sizeof header);
  all.append(key.data(), key.size());
  all += code.bytes;
  size_t done = 0;
  while (done < all.size()) {
    ssize_t n = ::write(fd, all.data() + done, all.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    done += size_t(n);
  }
  bool whole = ::close(fd) == 0 && done == all.size();
  if (!whole || llvm::sys::fs::rename(temporary, pathOf(key)))
    std::ignore = llvm::sys::fs::remove(temporary);
}

} // namespace dlc

//===- MappedFile.cpp - a read-only mapped file with shared ownership --------===//
#include "runtime/program/MappedFile.h"

#include "runtime/program/Message.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::runtime {

static Span mapBytes(int descriptor, uint64_t offset, uint64_t bytes, int protection,
                     const std::string &path) {
  if (bytes == 0)
    return {};
  void *memory =
      mmap(nullptr, bytes, protection, MAP_PRIVATE, descriptor, static_cast<off_t>(offset));
  if (memory == MAP_FAILED)
    fail("cannot map '", path, "': ", std::strerror(errno));
  return {memory, bytes, std::shared_ptr<const void>(memory, [bytes](const void *p) {
            munmap(const_cast<void *>(p), bytes);
          })};
}

MappedFile::MappedFile(const std::string &path) : name(path) {
  int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0)
    fail("cannot open '", path, "': ", std::strerror(errno),
         errno == ENOENT ? "; check the path" : "; check the permissions of the file");
  descriptor = std::shared_ptr<const int>(new int(opened), [](const int *p) {
    close(*p);
    delete p;
  });
  struct stat status;
  if (fstat(opened, &status) != 0)
    fail("cannot read the size of '", path, "': ", std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    fail("'", path, "' is not a regular file");
  whole = mapBytes(opened, 0, static_cast<uint64_t>(status.st_size), PROT_READ, path);
}

Span MappedFile::slice(uint64_t offset, uint64_t bytes) const {
  if (offset > whole.bytes || bytes > whole.bytes - offset)
    fail("'", name, "': bytes ", offset, " to ", offset, "+", bytes, " exceed the file of ",
         whole.bytes, " bytes; the file is truncated or damaged");
  return {data() + offset, bytes, whole.owner};
}

Span MappedFile::mapExecutable(uint64_t offset, uint64_t bytes) const {
  slice(offset, bytes);
  return mapBytes(*descriptor, offset, bytes, PROT_READ | PROT_EXEC, name);
}

} // namespace dlc::runtime

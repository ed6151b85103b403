//===- AtomicFile.cpp - atomic replacement of files --------------------------===//
#include "runtime/program/AtomicFile.h"

#include "runtime/program/Message.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dlc::runtime {

namespace {

/// Removes temporary files of killed writers. A writer holds a file lock (flock) on its temporary
/// file "NAME.PID-NUMBER.tmp", so a temporary file without a lock belongs to a killed writer. The
/// PID alone is not sufficient: on a shared file system it may belong to a process of another
/// machine.
void removeLeftovers(const std::string &target) {
  namespace fs = std::filesystem;
  fs::path path(target);
  std::string prefix = path.filename().string() + ".";
  std::error_code ignored;
  fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (auto it = fs::directory_iterator(folder, ignored); it != fs::directory_iterator();
       it.increment(ignored)) {
    std::string name = it->path().filename().string();
    int process = 0, number = 0, end = 0;
    if (!name.starts_with(prefix) ||
        std::sscanf(name.c_str() + prefix.size(), "%d-%d.tmp%n", &process, &number, &end) != 2 ||
        prefix.size() + static_cast<size_t>(end) != name.size())
      continue;
    removeLeftover(it->path().string());
  }
}

/// Locks a new temporary file. Returns whether the writer still owns it: another writer may have
/// removed it before it was locked. If the file system does not support locks, no writer removes
/// temporary files, so the result is true.
bool lockTemporary(int file) {
  struct stat status;
  if (flock(file, LOCK_EX | LOCK_NB) != 0)
    return errno != EWOULDBLOCK;
  return fstat(file, &status) != 0 || status.st_nlink > 0;
}

} // namespace

void removeLeftover(const std::string &temporary) {
  int file = open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0)
    return;
  if (flock(file, LOCK_EX | LOCK_NB) == 0)
    unlink(temporary.c_str());
  close(file);
}

AtomicFile::AtomicFile(const std::string &path) : target(path) {
  // Pipes and devices are written directly: their readers would not see a file renamed over them.
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    removeLeftovers(path);
    static std::atomic<unsigned> counter = 0;
    // Use open(), because mkostemp() would create the file with mode 0600. The first candidate name
    // may exist if a process of another machine with the same PID created it.
    for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
      std::string candidate = message(path, ".", getpid(), "-", counter++, ".tmp");
      descriptor = open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0 && lockTemporary(descriptor))
        temporary = candidate;
      else if (descriptor >= 0)
        close(std::exchange(descriptor, -1));
      else if (errno != EEXIST)
        break;
    }
  }
  if (descriptor < 0)
    failHere("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

/// Returns what a user can do about an error number of the operating system.
static const char *remedyOf(int code) {
  switch (code) {
  case ENOSPC:
  case EDQUOT:
    return "; free some space or write elsewhere";
  case ENOENT:
  case ENOTDIR:
    return "; create its folder first";
  case EISDIR:
    return "; give the name of a file in it";
  case EACCES:
  case EPERM:
  case EROFS:
    return "; choose a folder in which this user may write";
  default:
    return "";
  }
}

void AtomicFile::failHere(const char *doing) {
  int code = errno;
  fail("cannot ", doing, " '", target, "': ", std::strerror(code), remedyOf(code));
}

template <typename WriteSome>
void AtomicFile::writeAll(const void *data, size_t bytes, WriteSome writeSome) {
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t done = writeSome(from, std::min<size_t>(bytes, size_t(1) << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      failHere("write");
    from += done;
    bytes -= static_cast<size_t>(done);
  }
}

void AtomicFile::write(const void *data, size_t bytes) {
  writeAll(data, bytes, [&](const char *from, size_t count) {
    ssize_t done = ::write(descriptor, from, count);
    at += static_cast<uint64_t>(std::max<ssize_t>(done, 0));
    return done;
  });
}

void AtomicFile::rewrite(uint64_t offset, const void *data, size_t bytes) {
  const char *begin = static_cast<const char *>(data);
  writeAll(data, bytes, [&](const char *from, size_t count) {
    return pwrite(descriptor, from, count, off_t(offset) + (from - begin));
  });
}

void AtomicFile::padTo(uint64_t offset) {
  static const char zeros[4096] = {};
  while (at < offset)
    write(zeros, std::min<uint64_t>(sizeof zeros, offset - at));
}

void AtomicFile::commit() {
  if (!temporary.empty() && fsync(descriptor) != 0)
    failHere("sync");
  int closing = descriptor;
  descriptor = -1;
  if (close(closing) != 0)
    failHere("close");
  if (temporary.empty())
    return;
  if (rename(temporary.c_str(), target.c_str()) != 0)
    failHere("rename a temporary file to");
  temporary.clear();
}

} // namespace dlc::runtime

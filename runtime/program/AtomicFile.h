//===- AtomicFile.h - atomic replacement of files ----------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_ATOMICFILE_H
#define DLC_RUNTIME_PROGRAM_ATOMICFILE_H

#include "dlc/Export.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlc::runtime {

/// Replaces a file atomically. Writes to a temporary file in the same folder; commit() syncs it and
/// renames it to the target path. Without commit(), the destructor removes the temporary file.
/// Temporary files of killed writers are removed by the next writer of the same path. Every
/// function throws dlc::Error.
class DLC_EXPORT AtomicFile {
public:
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *data, size_t bytes);
  /// Pads the file with zero bytes up to `offset`.
  void padTo(uint64_t offset);
  uint64_t position() const { return at; }
  /// Returns whether rewrite() is supported: not for pipes and devices.
  bool isRewritable() const { return !temporary.empty(); }
  /// Replaces bytes at an offset that were already written. The position does not change.
  void rewrite(uint64_t offset, const void *data, size_t bytes);
  void commit();

private:
  [[noreturn]] void failHere(const char *doing);
  /// Calls `writeSome(from, bytes)`, which returns the number of bytes that it wrote or -1, until
  /// all bytes are written.
  template <typename WriteSome> void writeAll(const void *data, size_t bytes, WriteSome writeSome);

  std::string target, temporary;
  int descriptor = -1;
  uint64_t at = 0;
};

/// Removes an AtomicFile's temporary file if the process that wrote it has terminated.
void removeLeftover(const std::string &temporary);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_ATOMICFILE_H

//===- MappedFile.h - a read-only mapped file with shared ownership ----------===//
#ifndef DLC_RUNTIME_PROGRAM_MAPPEDFILE_H
#define DLC_RUNTIME_PROGRAM_MAPPEDFILE_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

class DLC_EXPORT MappedFile {
public:
  /// Maps the file for reading. Throws dlc::Error if the file is missing, a directory or not
  /// readable. An empty file is an empty mapping.
  explicit MappedFile(const std::string &path);

  const uint8_t *data() const { return static_cast<const uint8_t *>(whole.data); }
  size_t size() const { return whole.bytes; }
  const std::string &path() const { return name; }

  /// Returns the bytes [offset, offset + bytes) as a Span that keeps the mapping alive. Throws if
  /// the range exceeds the file.
  Span slice(uint64_t offset, uint64_t bytes) const;

  /// Maps the bytes [offset, offset + bytes) of the file again, with execute permission. `offset`
  /// must be a multiple of the page size.
  Span mapExecutable(uint64_t offset, uint64_t bytes) const;

private:
  std::string name;
  Span whole;
  std::shared_ptr<const int> descriptor;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MAPPEDFILE_H

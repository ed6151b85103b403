//===- MappedFile.h - a file mapped read-only, shared by its users ------------===//
#ifndef DLC_RUNTIME_PROGRAM_MAPPEDFILE_H
#define DLC_RUNTIME_PROGRAM_MAPPEDFILE_H

#include "runtime/program/Program.h"

#include <string>

namespace dlc::runtime {

class DLC_EXPORT MappedFile {
public:
  /// Throws dlc::Error (missing, a directory, not readable). An empty file maps to no bytes.
  explicit MappedFile(const std::string &path);

  const uint8_t *data() const { return static_cast<const uint8_t *>(whole.data); }
  size_t size() const { return whole.bytes; }
  const std::string &path() const { return name; }

  /// Bytes [offset, offset + bytes) that keep the mapping alive; throws if they are not in the
  /// file.
  Span slice(uint64_t offset, uint64_t bytes) const;

  /// The same bytes mapped for execution; offset must be a multiple of the page size.
  Span mapExecutable(uint64_t offset, uint64_t bytes) const;

private:
  std::string name;
  Span whole;
  std::shared_ptr<const int> descriptor;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MAPPEDFILE_H

//===- TuningFile.h - what was measured before, on disk -------------------===//
//
// One JSON file in the cache folder for all models. A writer merges with what others wrote meanwhile, under a lock, and
// renames a whole new file into place. A damaged file is as good as none, and is replaced by the next writer.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNINGFILE_H
#define DLC_CODEGEN_SELECT_TUNINGFILE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// One candidate's figures, or why it was no candidate.
struct TunedCandidate {
  std::string kernel, implementation;
  double minMicroseconds = 0, medianMicroseconds = 0;
  int runs = 0;
  std::string rejected;
};

/// The candidates of one operation, the fastest first, rejected ones last.
using TunedEntry = std::vector<TunedCandidate>;

class TuningFile {
public:
  /// Reads `folder`/tuning.json if there is one; an empty folder name means that nothing is kept. `warning` gets what is
  /// wrong with the file.
  TuningFile(const std::string &folder, std::string &warning);

  /// `key` is everything that the figures depend on, as text.
  const TunedEntry *find(const std::string &key) const;
  void put(const std::string &key, TunedEntry entry);

  /// Writes what was put; on failure `warning` says why, and the file is as it was.
  void save(std::string &warning);

private:
  std::string folder;
  std::map<std::string, TunedEntry> entries, added;
};

} // namespace dlc
#endif

//===- TuningDatabase.h - file of measured times --------------------------===//
//
// A text file with one JSON line per operation, sorted and with a fixed member order: it can be
// shipped, merged, compared by `diff` and put under version control. Measurements are appended
// immediately, including unfinished benchmarks with the rounds run so far, so that a kill loses
// only the candidate that was being timed. A process that finishes sorts the file. All writers hold
// a lock in a separate lock file. A damaged line is reported and skipped; a file with other
// contents is not modified.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNINGDATABASE_H
#define DLC_CODEGEN_SELECT_TUNINGDATABASE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// Measured times of one candidate, or the reason why it was rejected.
struct TunedCandidate {
  std::string kernel, implementation;
  double estimate = 0;        ///< microseconds, by the cost model
  double min = 0, median = 0; ///< microseconds
  double spread = 0;          ///< see CandidateResult
  double slowdown = 1, slowdownLow = 1, slowdownHigh = 1;
  int runs = 0, disturbed = 0;
  double error = -1;    ///< largest difference from f64, relative to the largest value; -1: unknown
  std::string checked;  ///< reference that the results were compared with
  double workspace = 0; ///< bytes of scratch memory
  std::string rejected; ///< why it must not be chosen; empty: it may be
  /// Time relative to the best candidate of each session; 0 if it was not measured in that session.
  std::vector<double> sessions = {};
  /// In an unfinished entry: microseconds of the rounds of the current session.
  std::vector<double> rounds = {};

  bool operator==(const TunedCandidate &) const = default;
};

/// Values by name, sorted by name.
using NamedValues = std::map<std::string, std::string>;

/// Everything that measured times depend on.
struct TuningKey {
  std::string operation; ///< with shapes, types, layouts and epilogue, without names or locations
  NamedValues settings;  ///< threads, accuracy, workspace, whether weights are in the caches
  NamedValues machine;   ///< processor, its features and caches
  NamedValues versions;  ///< of compiler and libraries

  std::string identity() const;
  /// Returns twelve hexadecimal digits that identify the key for users; the same on all machines.
  std::string id() const;
  /// Returns a short description of the machine.
  std::string machineText() const;
  auto operator<=>(const TuningKey &) const = default;
};

struct TuningEntry {
  TuningKey key;
  std::string name;        ///< of the operation when it was measured first; not part of the key
  bool certain = false;    ///< whether further sessions are unlikely to change the choice
  bool open = false;       ///< whether further sessions were planned when measuring was stopped
  bool unfinished = false; ///< benchmark in progress, from which nothing can be chosen yet
  std::vector<TunedCandidate> candidates; ///< the fastest first, rejected ones last

  /// Returns the candidate to use, see Decide.h; null if all are rejected.
  const TunedCandidate *choice() const;
  const TunedCandidate *find(const std::string &implementation) const;
  int samples() const;
};

class TuningDatabase {
public:
  /// Reads the file if it exists. If `path` is empty, nothing is stored. Sets `warning` if the file
  /// is damaged.
  TuningDatabase(const std::string &path, bool readOnly, std::string &warning);

  const TuningEntry *find(const TuningKey &key) const;
  /// Returns the same operation measured on another machine or with other versions; null if none.
  const TuningEntry *findElsewhere(const TuningKey &key) const;
  /// Stores an entry and appends it to the file. If the file cannot be written, sets `warning` once
  /// and keeps entries in memory only.
  const TuningEntry *put(TuningEntry entry, std::string &warning);
  /// Stores an unfinished benchmark, which can be resumed after a kill. `put` replaces it.
  void note(const TuningEntry &entry, std::string &warning);
  /// Returns the unfinished benchmark of the key; null if there is none.
  const TuningEntry *begun(const TuningKey &key) const;
  /// Sorts the file, including entries that other processes appended meanwhile.
  void compact(std::string &warning);
  /// Merges an entry. Of two entries for one operation, the one with more runs is kept. Returns
  /// true if the entry was added.
  bool take(const TuningEntry &entry);
  /// Writes all entries to a new file.
  void writeTo(const std::string &path) const;

  const std::map<std::string, TuningEntry> &all() const { return entries; }
  const std::string &file() const { return path; }

private:
  void index(const TuningEntry &entry);
  void append(const std::string &line);
  void write(const TuningEntry &entry, std::string &warning);

  std::string path;
  bool writable = true, wrote = false;
  std::map<std::string, TuningEntry> entries, unfinished; ///< by identity
  std::multimap<std::string, std::string> elsewhere; ///< from operation and settings to identities
};

/// Converts an entry to its line and back; std::nullopt for a line with an invalid format.
std::string toLine(const TuningEntry &entry);
std::optional<TuningEntry> fromLine(const std::string &line);

} // namespace dlc
#endif

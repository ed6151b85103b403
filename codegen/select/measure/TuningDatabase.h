//===- TuningDatabase.h - file of measured times --------------------------===//
//
// The tuning database is a text file with one JSON line per operation, sorted and with a fixed
// member order: it can be shipped, merged, compared by `diff` and put under version control.
// Measurements are appended immediately, including unfinished benchmarks with the rounds run so
// far, so that a killed process loses only the candidate that was being timed. A process that
// finishes sorts the file. All writers hold a lock in a separate lock file. A damaged line is
// reported and skipped; a file with other contents is not modified.
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_MEASURE_TUNINGDATABASE_H
#define DLC_CODEGEN_SELECT_MEASURE_TUNINGDATABASE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// Measured times of one candidate, or the reason why it was rejected.
struct TunedCandidate {
  std::string kernel, implementation;
  double estimate = 0;        ///< time in microseconds that the cost model estimates
  double min = 0, median = 0; ///< minimum and median of the measured times in microseconds
  double spread = 0;          ///< spread of the measured times (CandidateResult::spread)
  double slowdown = 1, slowdownLow = 1, slowdownHigh = 1;
  int runs = 0, disturbed = 0;
  double error =
      -1; ///< largest difference from f64 reference, relative to the largest value; -1: unknown
  std::string checked;  ///< reference with which the results were compared
  double workspace = 0; ///< bytes of scratch memory
  std::string rejected; ///< reason why the candidate must not be chosen; empty: it may be chosen
  /// Time relative to the best candidate in each measurement session; 0 if it was not measured in a
  /// session.
  std::vector<double> sessions = {};
  /// In an unfinished entry: microseconds of each round of the current measurement session.
  std::vector<double> rounds = {};

  bool operator==(const TunedCandidate &) const = default;
};

/// Map of names to values, sorted by name.
using NamedValues = std::map<std::string, std::string>;

/// Key of everything on which measured times depend.
struct TuningKey {
  /// Text of the operation with shapes, types, layouts and epilogue, without names or locations.
  std::string operation;
  /// Settings: threads, accuracy, workspace, and whether weights are in the caches.
  NamedValues settings;
  NamedValues machine;  ///< processor with its features and caches
  NamedValues versions; ///< versions of the compiler and of libraries

  std::string identity() const;
  /// Returns twelve hexadecimal digits that identify the key for users. They are the same on all
  /// machines.
  std::string id() const;
  /// Returns a short description of the machine for messages.
  std::string machineText() const;
  auto operator<=>(const TuningKey &) const = default;
};

struct TuningEntry {
  TuningKey key;
  std::string name;     ///< name of the operation when it was first measured; not part of the key
  bool certain = false; ///< whether further sessions are unlikely to change the choice
  bool open = false;    ///< whether further sessions were planned when measuring was stopped
  /// Whether the benchmark is in progress, so that no candidate can be chosen yet.
  bool unfinished = false;
  /// Candidates, sorted by speed; rejected candidates are last.
  std::vector<TunedCandidate> candidates;

  /// Returns the candidate that should be used (see Decide.h); null if all candidates are rejected.
  const TunedCandidate *choice() const;
  const TunedCandidate *find(const std::string &implementation) const;
  int samples() const;
};

class TuningDatabase {
public:
  /// Reads the database file if it exists. If `path` is empty, entries are only kept in memory.
  /// Sets `warning` if the file is damaged.
  TuningDatabase(const std::string &path, bool readOnly, std::string &warning);

  const TuningEntry *find(const TuningKey &key) const;
  /// Returns an entry for the same operation and settings on another machine or with other
  /// versions; null if there is none.
  const TuningEntry *findElsewhere(const TuningKey &key) const;
  /// Stores an entry and appends it to the file. If the file cannot be written, sets `warning`
  /// once, and entries are only kept in memory.
  const TuningEntry *put(TuningEntry entry, std::string &warning);
  /// Stores an unfinished benchmark, so that it can be resumed if the process is killed. put()
  /// replaces it by the finished entry.
  void note(const TuningEntry &entry, std::string &warning);
  /// Returns the unfinished benchmark for the key; null if there is none.
  const TuningEntry *begun(const TuningKey &key) const;
  /// Rewrites the file in sorted order, including entries that other processes appended in the
  /// meantime.
  void compact(std::string &warning);
  /// Merges an entry of another database. Of two entries for one operation, the one with more runs
  /// is kept. Returns true if `entry` was stored.
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
  /// Finished and unfinished entries, by TuningKey::identity().
  std::map<std::string, TuningEntry> entries, unfinished;
  std::multimap<std::string, std::string>
      elsewhere; ///< keys of `entries`, by operation and settings (without machine and versions)
};

/// Converts an entry to its line of the file (formatEntry) and back (parseEntry). parseEntry()
/// returns std::nullopt for a line with an invalid format.
std::string formatEntry(const TuningEntry &entry);
std::optional<TuningEntry> parseEntry(const std::string &line);

} // namespace dlc
#endif

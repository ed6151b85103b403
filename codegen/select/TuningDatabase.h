//===- TuningDatabase.h - what was measured before, in one file ------------===//
//
// A text of one line per operation, JSON each, sorted and with its members in one order: it can be
// shipped, merged, compared by `diff` and put under version control. What is measured is appended
// at once, contests that are not over with the rounds played so far, so that a kill costs the
// candidate that was being timed and nothing else; who finishes sorts the file. All writers hold a
// lock beside the file. A line that is damaged is named and left out, a file that is something else
// is not touched.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_TUNINGDATABASE_H
#define DLC_CODEGEN_SELECT_TUNINGDATABASE_H

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

/// One candidate's figures, or why it was none.
struct TunedCandidate {
  std::string kernel, implementation;
  double estimate = 0;        ///< microseconds, by the cost model
  double min = 0, median = 0; ///< microseconds
  double spread = 0;          ///< see Standing
  double behind = 1, behindLow = 1, behindHigh = 1;
  int runs = 0, disturbed = 0;
  double error = -1; ///< the largest difference from f64 in units of the largest value; -1: unknown
  std::string checked;  ///< how the error was found
  double workspace = 0; ///< bytes
  std::string rejected; ///< why it does not count
  /// How far it was behind the best of each sitting; 0 where it sat out.
  std::vector<double> sittings = {};
  /// In an entry that is not finished: microseconds of the rounds of the sitting that goes on.
  std::vector<double> rounds = {};

  bool operator==(const TunedCandidate &) const = default;
};

/// Names and values, in the names' order.
using Facts = std::map<std::string, std::string>;

/// All that figures depend on.
struct TuningKey {
  std::string operation; ///< with its shapes, types, layouts and epilogue, without names and places
  Facts settings;        ///< threads, accuracy, workspace, whether weights are found in the caches
  Facts machine;         ///< processor, its features and caches
  Facts versions;        ///< of compiler and libraries

  std::string identity() const;
  /// Twelve hexadecimal digits for people; the same everywhere.
  std::string id() const;
  /// The machine in a few words.
  std::string machineText() const;
  auto operator<=>(const TuningKey &) const = default;
};

struct TuningEntry {
  TuningKey key;
  std::string name;        ///< the operation's when it was measured first; no part of the key
  bool certain = false;    ///< whether more sittings would hardly change the choice
  bool open = false;       ///< who measured it wanted more sittings, and was stopped
  bool unfinished = false; ///< a contest that goes on: nothing to choose by
  std::vector<TunedCandidate> candidates; ///< the fastest first, rejected ones last

  /// The candidate to take, see Decide.h. Null when all are rejected.
  const TunedCandidate *choice() const;
  const TunedCandidate *find(const std::string &implementation) const;
  int samples() const;
};

class TuningDatabase {
public:
  /// Reads the file if it is there; an empty name means that nothing is kept. `warning` gets what
  /// is wrong with it.
  TuningDatabase(const std::string &path, bool readOnly, std::string &warning);

  const TuningEntry *find(const TuningKey &key) const;
  /// The same operation, measured on another machine or with other versions.
  const TuningEntry *findElsewhere(const TuningKey &key) const;
  /// Remembers it and appends it to the file. What cannot be written is told once, and remembered
  /// all the same.
  const TuningEntry *put(TuningEntry entry, std::string &warning);
  /// A contest that goes on: to be found after a kill, and gone when `put` says how it ended.
  void note(const TuningEntry &entry, std::string &warning);
  /// The contest that somebody did not finish.
  const TuningEntry *begun(const TuningKey &key) const;
  /// Sorts the file, with what others wrote meanwhile.
  void tidy(std::string &warning);
  /// Of two entries for one operation the one that more runs stand behind stays. True when
  /// something came in.
  bool take(const TuningEntry &entry);
  /// Writes a whole new file of what is here.
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
  std::multimap<std::string, std::string> elsewhere;      ///< operation and settings to identities
};

/// The entry's line, and back; nothing for what no writer of ours would write.
std::string toLine(const TuningEntry &entry);
std::optional<TuningEntry> fromLine(const std::string &line);

} // namespace dlc
#endif

//===- TuneDbCommand.cpp - dlc tune-db: shows, merges and compares tuning databases -----------===//
#include "tools/dlc/Options.h"
#include "tools/dlc/commands/TuneText.h"

#include "codegen/select/measure/InterleavedBenchmark.h"
#include "dlc/Error.h"
#include "passes/OpNames.h"

#include "llvm/Support/FileSystem.h"

#include <cstdio>

namespace dlc::cli {
namespace {

TuningDatabase openDatabase(const std::string &path) {
  if (!llvm::sys::fs::exists(path))
    throw Error(path + ": does not exist; required: a tuning database, written by dlc tune");
  std::string warning;
  TuningDatabase database(path, /*readOnly=*/true, warning);
  if (!warning.empty())
    std::fprintf(stderr, "dlc: warning: %s\n", warning.c_str());
  return database;
}

int showDatabase(const TuneDbArguments &arguments) {
  TuningDatabase database = openDatabase(arguments.output);
  size_t shown = 0;
  for (const auto &[identity, entry] : database.all())
    if (arguments.pattern.empty() || matchesPattern(arguments.pattern, entry.name) ||
        entry.key.id().starts_with(arguments.pattern)) {
      std::printf("%s\n", measurementText(entry, entry.name).c_str());
      ++shown;
    }
  std::printf("%zu of %zu operations\n", shown, database.all().size());
  return shown > 0 || arguments.pattern.empty() ? 0 : 1;
}

int mergeDatabases(const TuneDbArguments &arguments) {
  std::string warning;
  TuningDatabase all(arguments.output, /*readOnly=*/true, warning);
  if (!warning.empty())
    throw Error(warning);
  size_t before = all.all().size(), taken = 0;
  for (const std::string &path : arguments.files) {
    TuningDatabase other = openDatabase(path);
    for (const auto &[identity, entry] : other.all())
      taken += all.take(entry);
  }
  all.writeTo(arguments.output);
  std::printf("%s: %zu operations, %zu of them new, %zu with better measurements\n",
              arguments.output.c_str(), all.all().size(), all.all().size() - before,
              taken - (all.all().size() - before));
  return 0;
}

/// Returns the slowdown of `other`, the candidate that the other database chooses, relative to this
/// database's choice `own`, by the measurements in this database.
double behindHere(const TuningEntry &entry, const TunedCandidate &own,
                  const TunedCandidate &other) {
  const TunedCandidate *found = entry.find(other.implementation);
  return found && found->rejected.empty() ? found->slowdown / own.slowdown : 1e30;
}

int compareDatabases(const TuneDbArguments &arguments) {
  TuningDatabase first = openDatabase(arguments.files.at(0)),
                 second = openDatabase(arguments.files.at(1));
  size_t onlyFirst = 0, alike = 0, within = 0, otherwise = 0;
  for (const auto &[identity, a] : first.all()) {
    const TuningEntry *b = second.find(a.key);
    if (!b) {
      ++onlyFirst;
      std::printf("< %s #%s\n", a.name.c_str(), a.key.id().c_str());
      continue;
    }
    const TunedCandidate *mine = a.choice(), *theirs = b->choice();
    if (!mine || !theirs || mine->implementation == theirs->implementation) {
      ++((!mine) == (!theirs) ? alike : otherwise);
      continue;
    }
    double here = behindHere(a, *mine, *theirs), there = behindHere(*b, *theirs, *mine);
    bool same = here <= kTie && there <= kTie;
    ++(same ? within : otherwise);
    std::printf(
        "%c %s #%s: %s %.1f us, %s %.1f us; slower than the other's choice by %.3f and %.3f\n",
        same ? '~' : '!', a.name.c_str(), a.key.id().c_str(), mine->implementation.c_str(),
        mine->median, theirs->implementation.c_str(), theirs->median, here, there);
  }
  size_t onlySecond = 0;
  for (const auto &[identity, b] : second.all())
    if (!first.find(b.key)) {
      ++onlySecond;
      std::printf("> %s #%s\n", b.name.c_str(), b.key.id().c_str());
    }
  size_t both = alike + within + otherwise;
  std::printf("%zu only in the first, %zu only in the second; of %zu in both: %zu with the same "
              "kernel, %zu within 3 %% in speed, %zu different: %.1f %% agree\n",
              onlyFirst, onlySecond, both, alike, within, otherwise,
              both ? 100.0 * double(alike + within) / double(both) : 100.0);
  return onlyFirst + onlySecond + within + otherwise > 0;
}

} // namespace

int tuneDbCommand(const TuneDbArguments &arguments) {
  if (arguments.action == "show")
    return showDatabase(arguments);
  if (arguments.action == "merge")
    return mergeDatabases(arguments);
  return compareDatabases(arguments);
}

} // namespace dlc::cli

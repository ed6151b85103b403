//===- TuneCommand.cpp - dlc tune: measures the kernels of a model --------===//
#include "tools/dlc/Options.h"
#include "tools/dlc/Progress.h"
#include "tools/dlc/commands/TuneText.h"

#include "codegen/cpu/target/Native.h"
#include "codegen/select/Calibrate.h"

#include "dlc/Error.h"
#include "passes/OpNames.h"

#include <chrono>
#include <cstdio>
#include <map>

namespace dlc::cli {
namespace {

using From = TunedOperation::From;

/// Tuning statistics over all operations of a model.
struct TuningSummary {
  std::map<From, size_t> operations;
  size_t uncertain = 0, all = 0, withChoice = 0;
  int64_t resumed = 0;
  int64_t runs = 0, disturbed = 0;

  void add(const TunedOperation &about) {
    bool isNew = about.from == From::Measured || about.from == From::Rejected || about.tried;
    if (about.entry && (isNew || about.from == From::Disturbed))
      for (const TunedCandidate &c : about.entry->candidates) {
        runs += c.runs;
        disturbed += c.disturbed;
      }
    if (about.tried)
      return;
    ++all;
    ++operations[about.from];
    withChoice += about.candidates > 1;
    resumed += int64_t(about.resumed);
    uncertain += about.from == From::Measured && !about.entry->certain;
  }
};

std::string describeOutcome(const TunedOperation &about) {
  char text[160];
  const TunedCandidate *choice = about.entry ? about.entry->choice() : nullptr;
  switch (about.from) {
  case From::Known:
  case From::Measured: {
    if (!choice)
      return "known: all candidates were rejected";
    int size = std::snprintf(text, sizeof text, "%10.1f us  of %zu", choice->median,
                             about.entry->candidates.size());
    std::string line(text, static_cast<size_t>(size));
    if (choice->error >= 0) {
      std::snprintf(text, sizeof text, "  error %.1e", choice->error);
      line += text;
    }
    if (about.from == From::Known)
      return line + "  known";
    for (const TunedCandidate &c : about.entry->candidates)
      if (c.rejected.starts_with("wrong") || c.rejected.starts_with("crashed") ||
          c.rejected.starts_with("did not"))
        line += "  rejected " + c.implementation + " (" + c.rejected + ")";
    return line + (about.entry->certain ? "" : "  uncertain");
  }
  case From::Disturbed:
    return about.tried ? "disturbed by other work, measured again later"
                       : "disturbed by other work, estimated";
  case From::LeftOver:
    std::snprintf(text, sizeof text, "%10.1f us  chosen by the cost model", about.estimate);
    return text;
  case From::Rejected:
    return "all candidates were rejected; see --explain";
  }
  return "";
}

bool matchesOperation(const std::string &pattern, const TunedOperation &about) {
  if (about.entry && about.entry->key.id().starts_with(pattern))
    return true;
  return std::any_of(about.names.begin(), about.names.end(),
                     [&](const std::string &name) { return matchesPattern(pattern, name); });
}

} // namespace

TuneArguments::TuneArguments() {
  options.tuning.onMiss = TuningMissPolicy::Measure;
  options.tuning.sessions = 8;
  options.tuning.spreadSeconds = 2;
}

namespace {

/// Measures the profile (cost-model parameters) of this machine, writes it to a file and prints it
/// as a table.
int tuneMachine(const TuneArguments &arguments) {
  auto start = std::chrono::steady_clock::now();
  const CompileOptions &options = arguments.options;
  std::string file = arguments.profileFile.empty()
                         ? getMeasuredProfilePath(options.cacheDir.value_or(""))
                         : arguments.profileFile;
  if (file.empty())
    throw Error("no file for the profile; required: -o FILE or --cache DIR");
  cpu::Target target = cpu::hostTarget();
  const Profile &nearest = findNearestProfile(target);
  Profile profile = measureProfile(options, target, kCalibrationSeconds);
  if (std::string problem = writeProfile(profile, file); !problem.empty())
    throw Error(problem);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%-26s %12s %12s  %s\n", "parameter", "here", nearest.name.c_str(),
              "meaning (rates: units per nanosecond)");
  for (const CostParameter &figure : getCostParameters())
    if (figure.scale != ParameterScaling::None)
      std::printf("%-26s %12.4g %12.4g  %s\n", figure.name.str().c_str(),
                  profile.machine.*figure.field, nearest.machine.*figure.field,
                  figure.what.str().c_str());
  std::printf("%zu samples of kernels in %.1f s\nprofile %s\n", profile.samples.size(), seconds,
              file.c_str());
  return 0;
}

} // namespace

int tuneCommand(const TuneArguments &arguments) {
  if (arguments.machine)
    return tuneMachine(arguments);
  if (arguments.model.empty())
    throw Error("required: a model, or --machine");
  auto start = std::chrono::steady_clock::now();
  CompileOptions options = arguments.options;
  options.to = Phase::Refine;
  TuningOptions &tuning = options.tuning;
  // The tuning database is writable in this command, even if the options pin it as read-only.
  tuning.pinned = false;
  tuning.database = getTuningDatabasePath(options);
  if (tuning.database.empty())
    throw Error("no file for the measurements; required: --db FILE or --cache DIR");
  spoilAsAsked(tuning);

  ProgressBar progress;
  TuningSummary tally;
  std::vector<std::string> explained;
  tuning.report = [&](const TunedOperation &about, size_t done, size_t of) {
    tally.add(about);
    std::string name = about.names.empty() ? "(no name)" : about.names.front();
    if (!arguments.explain.empty() && !about.tried && matchesOperation(arguments.explain, about))
      explained.push_back(about.entry ? measurementText(*about.entry, name)
                                      : name + ": not measured; the cost model chooses " +
                                            about.chosen + "\n");
    if (progress.visible()) {
      progress.show("tuning", int(done), int(of), truncateStart(name, 40));
      return;
    }
    if (!arguments.explain.empty())
      return;
    std::string times = about.times > 1 ? " x" + std::to_string(about.times) : "";
    std::printf("%4zu/%zu  %-44s %-30s %s\n", done, of, (truncateStart(name, 40) + times).c_str(),
                about.chosen.c_str(), describeOutcome(about).c_str());
    std::fflush(stdout);
  };
  compileFromArguments(arguments, options);
  progress.clear();
  for (const std::string &text : explained)
    std::printf("%s\n", text.c_str());
  if (!arguments.explain.empty() && explained.empty())
    throw Error("--explain " + arguments.explain + ": none of the " + std::to_string(tally.all) +
                " operations has a matching name or key");
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%zu operations with a choice, %zu without, in %.1f s: %zu measured (%zu uncertain), "
              "%zu known, %zu chosen by the cost model, %zu disturbed\n",
              tally.withChoice, tally.all - tally.withChoice, seconds,
              tally.operations[From::Measured] + tally.operations[From::Rejected], tally.uncertain,
              tally.operations[From::Known], tally.operations[From::LeftOver],
              tally.operations[From::Disturbed]);
  if (tally.resumed > 0)
    std::printf("%lld timings were reused from an interrupted dlc tune\n",
                static_cast<long long>(tally.resumed));
  if (tally.disturbed > 0)
    std::printf(
        "contention: %lld timings overlapped with other work on this machine and were repeated\n",
        static_cast<long long>(tally.disturbed));
  std::printf("database %s\n", tuning.database.c_str());
  return 0;
}

} // namespace dlc::cli

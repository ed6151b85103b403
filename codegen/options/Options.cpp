//===- Options.cpp - options of a compilation -----------------------------===//
#include "codegen/options/Options.h"

#include "codegen/providers/Provider.h"
#include "runtime/device/cpu/Features.h"

#include <array>
#include <cstdlib>

namespace dlc {

namespace {

struct PhaseRow {
  Phase phase;
  llvm::StringLiteral name, summary;
};

constexpr PhaseRow kPhases[] = {
    {Phase::Import, "import", "import of a file or a trace into the dlc dialect"},
    {Phase::Simplify, "simplify",
     "shape inference, constant folding, algebraic simplification, dead code elimination"},
    {Phase::Grad, "grad", "expansion of dlc.gradient into the backward pass"},
    {Phase::Precision, "precision",
     "16-bit values, and values that are recomputed instead of saved"},
    {Phase::Place, "place", "device of each operation, and transfers between devices"},
    {Phase::Layout, "layout", "layout of each activation"},
    {Phase::Fuse, "fuse", "grouping of operations into fusions, each of which is one kernel"},
    {Phase::Select, "select", "kernel of each fusion and operation"},
    {Phase::Refine, "refine",
     "fusions that are split, and operations that the chosen kernels can absorb"},
    {Phase::Lower, "lower", "order of commands, streams and views"},
    {Phase::Memory, "memory", "memory plan: offsets in one arena for each device"},
    {Phase::Native, "native", "machine code; the program with its constants and commands"},
};

constexpr size_t kPhaseCount = std::size(kPhases);

} // namespace

llvm::StringRef phaseName(Phase phase) { return kPhases[size_t(phase)].name; }
llvm::StringRef phaseSummary(Phase phase) { return kPhases[size_t(phase)].summary; }

std::optional<Phase> phaseFromName(llvm::StringRef name) {
  for (const PhaseRow &row : kPhases)
    if (row.name == name)
      return row.phase;
  return std::nullopt;
}

llvm::ArrayRef<Phase> allPhases() {
  static const std::array<Phase, kPhaseCount> phases = [] {
    std::array<Phase, kPhaseCount> list;
    llvm::transform(kPhases, list.begin(), [](const PhaseRow &row) { return row.phase; });
    return list;
  }();
  return phases;
}

static std::string defaultProfile() {
  const char *given = std::getenv("DLC_PROFILE");
  return given ? given : "";
}

CompileOptions::CompileOptions() {
  cacheDir = "";
  profile = defaultProfile();
}

CompileOptions::CompileOptions(const ModelOptions &options) : ModelOptions(options) {
  if (!cacheDir)
    cacheDir = defaultCacheDir();
  if (profile.empty())
    profile = defaultProfile();
}

CompileOptions resolveDefaults(CompileOptions options) {
  if (options.threads <= 0)
    options.threads = runtime::hostThreads();
  return options;
}

std::vector<Setting> getModelSettings(CompileOptions &o) {
  std::vector<Setting> settings = getModelSettings(static_cast<ModelOptions &>(o));
  std::vector<Setting> own = {
      {"kernels",
       "provider whose kernels are preferred wherever they support the operation; default: the "
       "fastest kernel",
       &o.kernels, kernelNames()},
      {"gpu-arch", "GPU architecture to compile for, such as sm_90a; default: that of this machine",
       &o.gpuArch},
      {"db",
       "tuning database from which kernels are chosen (read only); default: tuning.jsonl in the "
       "cache folder",
       [&o](const std::string &file) {
         o.tuning.database = file;
         o.tuning.pinned = !file.empty();
       }},
      {"on-miss",
       "for an operation that is not in the tuning database: use the cost model, report an error, "
       "or measure the candidates now",
       [&o](const std::string &what) {
         o.tuning.onMiss = what == "error"     ? TuningMissPolicy::Error
                           : what == "measure" ? TuningMissPolicy::Measure
                                               : TuningMissPolicy::Model;
       },
       {"model", "error", "measure"}},
      {"workspace", "maximum scratch memory of a kernel, such as 16MiB", &o.tuning.workspaceBytes},
  };
  llvm::append_range(settings, own);
  return settings;
}

std::string defaultCacheDir() {
  if (const char *given = std::getenv("DLC_CACHE_DIR"))
    return given;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/dlc";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/dlc";
  return "";
}

std::string getTuningDatabasePath(const CompileOptions &options) {
  if (!options.tuning.database.empty())
    return options.tuning.database;
  return options.cacheDir->empty() ? "" : *options.cacheDir + "/tuning.jsonl";
}

} // namespace dlc

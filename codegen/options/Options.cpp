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
    {Phase::Import, "import", "a file or a trace as dlc"},
    {Phase::Simplify, "simplify", "shapes, constants, algebra, dead code"},
    {Phase::Grad, "grad", "the backward pass: every dlc.gradient spelled out"},
    {Phase::Precision, "precision", "which values have 16 bits, and what is computed again"},
    {Phase::Place, "place", "which device each operation runs on, and what crosses"},
    {Phase::Layout, "layout", "the layout of each activation"},
    {Phase::Fuse, "fuse", "what runs as one kernel"},
    {Phase::Select, "select", "which kernel does each fusion or operation"},
    {Phase::Refine, "refine", "what kernels do beside what they were chosen for"},
    {Phase::Lower, "lower", "commands in order, streams and views"},
    {Phase::Memory, "memory", "one arena for each device"},
    {Phase::Native, "native", "machine code, constants and commands as a program"},
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

CompileOptions resolved(CompileOptions options) {
  if (options.threads <= 0)
    options.threads = runtime::hostThreads();
  return options;
}

std::vector<Setting> settingsOf(CompileOptions &o) {
  std::vector<Setting> settings = settingsOf(static_cast<ModelOptions &>(o));
  std::vector<Setting> own = {
      {"kernels", "whose kernels to take wherever they can do the work; else the fastest",
       &o.kernels, kernelNames()},
      {"gpu-arch", "the GPUs to compile for, as in sm_90a; else those of this machine", &o.gpuArch},
      {"db",
       "the tuning database to choose kernels by, only read; else tuning.jsonl in the cache folder",
       [&o](const std::string &file) {
         o.tuning.database = file;
         o.tuning.pinned = !file.empty();
       }},
      {"on-miss",
       "of an operation that the database does not know: ask the cost model, refuse, or measure "
       "now",
       [&o](const std::string &what) {
         o.tuning.onMiss = what == "error"     ? OnMiss::Error
                           : what == "measure" ? OnMiss::Measure
                                               : OnMiss::Model;
       },
       {"model", "error", "measure"}},
      {"workspace", "the most scratch memory that a kernel may ask for: as in 16MiB",
       &o.tuning.workspaceBytes},
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

std::string databaseOf(const CompileOptions &options) {
  if (!options.tuning.database.empty())
    return options.tuning.database;
  return options.cacheDir->empty() ? "" : *options.cacheDir + "/tuning.jsonl";
}

} // namespace dlc

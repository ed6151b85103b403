//===- Programs.h - cache of compiled programs, one for each set of shapes and values ---------===//
#ifndef DLC_TOOLS_COMPILER_PROGRAMS_H
#define DLC_TOOLS_COMPILER_PROGRAMS_H

#include "codegen/Pipeline.h"
#include "runtime/session/Session.h"
#include "tools/compiler/BackgroundTuning.h"

#include <list>
#include <mutex>
#include <set>

namespace dlc {

/// A program that is ready to run, and its compile time.
struct LoadedProgram {
  std::shared_ptr<runtime::Program> program;
  std::shared_ptr<runtime::Session> session;
  double compileSeconds = 0;
  /// Mutex between runs and background measurements; each run locks it. Null if nothing is tuned in
  /// the background.
  std::shared_ptr<MeasurementMutex> measurementMutex = nullptr;
};

/// Compiles the source's module for the given input shapes. Returns null if `options.to` is a phase
/// before program creation; `after` then receives the module. Input values that the program depends
/// on are read from `values`, and the names of these inputs are added to `bound`.
std::shared_ptr<runtime::Program> compileSource(Source &source, const Shapes &shapes,
                                                const Values &values, const CompileOptions &options,
                                                std::set<std::string> &bound,
                                                mlir::OwningOpRef<mlir::ModuleOp> *after = nullptr);

/// LRU cache of up to `maxPrograms` programs, which are compiled when they are first requested.
class ProgramCache {
public:
  /// Creates an empty cache. `lender` is the session whose state a stateful program shares, or null
  /// if the program has its own state.
  ProgramCache(std::shared_ptr<Source> source, CompileOptions options,
               std::shared_ptr<runtime::Session> lender = nullptr)
      : source(std::move(source)), options(std::move(options)), lender(std::move(lender)) {}

  /// Returns the program for these input shapes and values, and compiles it if it is not cached.
  /// Thread-safe: a caller waits while another thread compiles.
  std::shared_ptr<const LoadedProgram> get(const Shapes &shapes, const Values &values);
  /// Returns the only program of a stateful source, and compiles it for the static input shapes if
  /// it is not compiled yet.
  std::shared_ptr<const LoadedProgram> stateful();
  size_t size() const;
  /// Returns the number of programs that background tuning has replaced with faster ones. isTuned()
  /// returns true if no background tuning is running.
  size_t swaps() const;
  bool isTuned() const;

private:
  struct Kept {
    std::string key;
    std::shared_ptr<const LoadedProgram> ready;
    std::shared_ptr<BackgroundTuning> background;
    std::shared_ptr<const LoadedProgram> now() const {
      return background ? background->now() : ready;
    }
  };

  std::string keyOf(const Shapes &shapes, const Values &values) const;

  std::shared_ptr<Source> source;
  CompileOptions options;
  std::shared_ptr<runtime::Session> lender;
  /// Names of inputs whose values at least one program depends on. The bytes of these inputs are
  /// part of the key of all later programs.
  std::set<std::string> boundInputs;
  mutable std::mutex mutex;
  /// Cached programs, ordered from most to least recently used.
  std::list<Kept> programs;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_PROGRAMS_H

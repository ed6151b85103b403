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

/// A program that is ready to run, and the time that compiling took.
struct ReadyProgram {
  std::shared_ptr<runtime::Program> program;
  std::shared_ptr<runtime::Session> session;
  double compileSeconds = 0;
  /// MeasurementMutex shared with background tuning; each run takes one. Null if nothing is tuned
  /// in the background.
  std::shared_ptr<MeasurementMutex> measurementMutex = nullptr;
};

/// Compiles the source's module. Returns null if `options.to` is a phase before program creation;
/// `after` receives the module then. Input values that the program depends on are read from
/// `values`, and the names of these inputs are added to `bound`.
std::shared_ptr<runtime::Program> compileSource(Source &source, const Shapes &shapes,
                                                const Values &values, const CompileOptions &options,
                                                std::set<std::string> &bound,
                                                mlir::OwningOpRef<mlir::ModuleOp> *after = nullptr);

/// LRU cache of programs, which are compiled when they are first requested. Keeps up to
/// `maxPrograms`.
class Programs {
public:
  /// `lender` is the session whose state a stateful program shares. If it is null, the program has
  /// its own state.
  Programs(std::shared_ptr<Source> source, CompileOptions options,
           std::shared_ptr<runtime::Session> lender = nullptr)
      : source(std::move(source)), options(std::move(options)), lender(std::move(lender)) {}

  /// Returns the program for these shapes and values, and compiles it if necessary. Thread-safe: a
  /// caller waits while another thread compiles.
  std::shared_ptr<const ReadyProgram> get(const Shapes &shapes, const Values &values);
  /// Returns the only program of a stateful source. Compiles it for the static input shapes if it
  /// has not been run yet.
  std::shared_ptr<const ReadyProgram> stateful();
  size_t size() const;
  /// swaps() returns the number of programs that background tuning has replaced with faster ones.
  /// isTuned() returns true if no background tuning is running.
  size_t swaps() const;
  bool isTuned() const;

private:
  struct Kept {
    std::string key;
    std::shared_ptr<const ReadyProgram> ready;
    std::shared_ptr<BackgroundTuning> background;
    std::shared_ptr<const ReadyProgram> now() const {
      return background ? background->now() : ready;
    }
  };

  std::string keyOf(const Shapes &shapes, const Values &values) const;

  std::shared_ptr<Source> source;
  CompileOptions options;
  std::shared_ptr<runtime::Session> lender;
  /// Inputs whose values some program depends on. Their bytes are part of the key of all later
  /// programs.
  std::set<std::string> boundInputs;
  mutable std::mutex mutex;
  /// Ordered from most to least recently used.
  std::list<Kept> programs;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_PROGRAMS_H

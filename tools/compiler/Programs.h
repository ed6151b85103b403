//===- Programs.h - one compiled program per set of shapes and values -------------===//
#ifndef DLC_TOOLS_COMPILER_PROGRAMS_H
#define DLC_TOOLS_COMPILER_PROGRAMS_H

#include "codegen/Pipeline.h"
#include "runtime/session/Session.h"
#include "tools/compiler/BackgroundTuning.h"

#include <list>
#include <mutex>
#include <set>

namespace dlc {

/// A program that can run, and what it took to make it.
struct Ready {
  std::shared_ptr<runtime::Program> program;
  std::shared_ptr<runtime::Session> session;
  double compileSeconds = 0;
  /// Where kernels are measured behind it: a run takes one.
  std::shared_ptr<Turns> turns = nullptr;
};

/// Compiles the source's module as asked; null when `options.to` stops before a program, `after`
/// then has the module. Inputs whose values the program needs are taken from `values`; those used
/// are added to `bound`.
std::shared_ptr<runtime::Program> compileSource(Source &source, const Shapes &shapes,
                                                const Values &values, const CompileOptions &options,
                                                std::set<std::string> &bound,
                                                mlir::OwningOpRef<mlir::ModuleOp> *after = nullptr);

/// Compiles when first asked for, remembers up to `maxPrograms`; the least recently used leaves.
class Programs {
public:
  /// `lender`: whose state a program with state shares; null for its own.
  Programs(std::shared_ptr<Source> source, CompileOptions options,
           std::shared_ptr<runtime::Session> lender = nullptr)
      : source(std::move(source)), options(std::move(options)), lender(std::move(lender)) {}

  /// Thread-safe; who asks for what another thread is compiling waits for it.
  std::shared_ptr<const Ready> get(const Shapes &shapes, const Values &values);
  /// The one program of a source with state, for the shapes that it has or was run with.
  std::shared_ptr<const Ready> stateful();
  size_t size() const;
  /// How often a faster program took over, and whether nothing is measured behind any more.
  size_t swaps() const;
  bool isTuned() const;

private:
  struct Kept {
    std::string key;
    std::shared_ptr<const Ready> ready;
    std::shared_ptr<BackgroundTuning> behind;
    std::shared_ptr<const Ready> now() const { return behind ? behind->now() : ready; }
  };

  std::string keyOf(const Shapes &shapes, const Values &values) const;

  std::shared_ptr<Source> source;
  CompileOptions options;
  std::shared_ptr<runtime::Session> lender;
  /// Inputs of which some program needed the value: from then on their bytes are part of the key.
  std::set<std::string> boundInputs;
  mutable std::mutex mutex;
  /// Most recently used first.
  std::list<Kept> programs;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_PROGRAMS_H

//===- Programs.cpp - cache of compiled programs, one for each set of shapes and values -------===//
#include "tools/compiler/Programs.h"

#include "dlc/Error.h"
#include "passes/share/SplitNames.h"
#include "tools/compiler/Diagnostics.h"

#include <algorithm>
#include <chrono>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace dlc {

std::shared_ptr<runtime::Program> compileSource(Source &source, const Shapes &shapes,
                                                const Values &values, const CompileOptions &options,
                                                std::set<std::string> &bound,
                                                mlir::OwningOpRef<mlir::ModuleOp> *after) {
  if (source.isProgram())
    return source.program();
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  while (!module) {
    Values given;
    for (const std::string &name : bound)
      given[name] = values.at(name);
    std::vector<std::string> needed;
    module =
        source.module(shapes, given, needed, options.nchwcBlock, [&](llvm::StringRef parameter) {
          return share::isSplit(options, parameter);
        });
    for (const std::string &name : needed) {
      if (!values.count(name))
        throw Error(source.path() + ": shapes depend on the value of input '" + name +
                    "': required: that value at compile time (dlc compile|run --input " + name +
                    "=FILE.npy)");
      bound.insert(name);
    }
  }
  if (options.afterPhase)
    options.afterPhase(Phase::Import, *module,
                       std::chrono::duration<double>(Clock::now() - start).count());

  DiagnosticCollector diagnostics(source.context());
  std::shared_ptr<runtime::Program> program;
  if (options.to != Phase::Import) {
    mlir::FailureOr<std::shared_ptr<runtime::Program>> made = compile(*module, options);
    if (mlir::failed(made))
      throw Error(diagnostics.take(source.path() + ": compilation failed"));
    program = *made;
  }
  if (after)
    *after = std::move(module);
  module = {};
#ifdef __GLIBC__
  // Trims the heap: memory that the compiler has freed is returned to the system before the program
  // allocates its own memory.
  malloc_trim(0);
#endif
  return program;
}

std::string ProgramCache::keyOf(const Shapes &shapes, const Values &values) const {
  std::string key;
  for (const auto &[name, shape] : shapes)
    key += name + ":" + shapeText(shape) + ";";
  for (const std::string &name : boundInputs) {
    auto found = values.find(name);
    if (found == values.end())
      continue;
    const runtime::Span &data = found->second.data;
    key += name + "=";
    key.append(static_cast<const char *>(data.data), data.bytes);
  }
  return key;
}

std::shared_ptr<const LoadedProgram> ProgramCache::get(const Shapes &shapes, const Values &values) {
  std::lock_guard lock(mutex);
  std::string key = keyOf(shapes, values);
  for (auto it = programs.begin(); it != programs.end(); ++it) {
    if (it->key == key) {
      programs.splice(programs.begin(), programs, it);
      return programs.front().now();
    }
  }
  if (!source->states().empty() && !programs.empty()) {
    std::string given;
    for (const auto &[name, shape] : shapes)
      given += (given.empty() ? "" : ", ") + name + " " + shapeText(shape);
    throw Error(
        source->path() +
        ": its state belongs to one program, compiled for other inputs; required: " +
        programs.front().key + "; found: " + given +
        "; give every batch the same shape, or compile the model again and share the state");
  }
  auto start = std::chrono::steady_clock::now();
  auto ready = std::make_shared<LoadedProgram>();
  std::set<std::string> bound = boundInputs;
  std::erase_if(bound, [&](const std::string &name) { return !values.count(name); });
  ready->program = compileSource(*source, shapes, values, options, bound);
  ready->session = std::make_shared<runtime::Session>(
      ready->program, runtime::SessionOptions{options.threads, lender.get()});
  ready->compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  boundInputs.insert(bound.begin(), bound.end());
  std::shared_ptr<BackgroundTuning> measuring;
  if (options.tuneInBackground > 0 && !source->isProgram()) {
    ready->measurementMutex = std::make_shared<MeasurementMutex>();
    measuring = tuneInBackground(source, options, shapes, values, bound, ready);
  }
  programs.push_front({keyOf(shapes, values), ready, std::move(measuring)});
  while (programs.size() > std::max<size_t>(1, options.maxPrograms))
    programs.pop_back();
  return ready;
}

std::shared_ptr<const LoadedProgram> ProgramCache::stateful() {
  {
    std::lock_guard lock(mutex);
    if (!programs.empty())
      return programs.front().now();
  }
  return get(source->complete({}), {});
}

size_t ProgramCache::size() const {
  std::lock_guard lock(mutex);
  return programs.size();
}

size_t ProgramCache::swaps() const {
  std::lock_guard lock(mutex);
  size_t sum = 0;
  for (const Kept &kept : programs)
    sum += kept.background ? kept.background->swaps() : 0;
  return sum;
}

bool ProgramCache::isTuned() const {
  std::lock_guard lock(mutex);
  return std::all_of(programs.begin(), programs.end(), [](const Kept &kept) {
    return !kept.background || kept.background->isDone();
  });
}

} // namespace dlc

//===- Sessions.cpp - sessions of a model file for language bindings ------===//
#include "tools/compiler/Sessions.h"

#include "dlc/Error.h"
#include "tools/compiler/Programs.h"

namespace dlc {

static CompileOptions addProgressHooks(const ModelOptions &given,
                                       const SessionCache::Hooks &hooks) {
  CompileOptions options(given);
  options.isCancelled = hooks.isCancelled;
  if (hooks.progress) {
    options.afterPhase = [progress = hooks.progress](Phase phase, mlir::ModuleOp, double) {
      progress("compiling", int(phase) + 1, int(allPhases().size()));
    };
    options.progress = [progress = hooks.progress](llvm::StringRef what, int done, int total) {
      progress(what.str(), done, total);
    };
  }
  for (const Setting &setting : getModelSettings(options))
    if (std::string problem = setting.problem(); !problem.empty())
      throw Error(problem);
  return options;
}

struct SessionCache::Impl {
  Impl(std::shared_ptr<Source> from, const ModelOptions &options, Hooks given)
      : hooks(std::move(given)), source(std::move(from)),
        programs(source, addProgressHooks(options, hooks)) {}
  Hooks hooks;
  std::shared_ptr<Source> source;
  ProgramCache programs;
};

SessionCache::SessionCache(const std::string &path, const ModelOptions &options, Hooks hooks)
    : SessionCache(std::make_shared<Source>(path), options, std::move(hooks)) {}
SessionCache::SessionCache(std::shared_ptr<Source> source, const ModelOptions &options, Hooks hooks)
    : impl(std::make_unique<Impl>(std::move(source), options, std::move(hooks))) {}
SessionCache::~SessionCache() = default;

const std::vector<ValueInfo> &SessionCache::inputs() const { return impl->source->inputs(); }
const std::vector<ValueInfo> &SessionCache::outputs() const { return impl->source->outputs(); }
const std::vector<ValueInfo> &SessionCache::defaults() const { return impl->source->defaults(); }

std::shared_ptr<runtime::Session>
SessionCache::get(const std::map<std::string, std::vector<int64_t>> &shapes,
                  const std::map<std::string, Tensor> &given) {
  Values values;
  for (const auto &[name, tensor] : given) {
    auto value = std::make_shared<const Tensor>(tensor);
    values[name] = {tensor.dtype(), tensor.shape(), {value->raw(), tensor.bytes(), value}};
  }
  try {
    return impl->programs.get(impl->source->complete(shapes), values)->session;
  } catch (const Error &) {
    if (impl->hooks.isCancelled && impl->hooks.isCancelled())
      throw Cancelled();
    throw;
  }
}

} // namespace dlc

//===- Traced.cpp - compiles a model from a traced graph ------------------===//
#include "codegen/Pipeline.h"
#include "frontend/trace/Trace.h"
#include "tools/compiler/Model.h"

namespace dlc {

Model compile(trace::Graph &&graph, const ModelOptions &options) {
  TracedModule traced = trace::takeModule(std::move(graph));
  prepareContext(*traced.context);
  auto source =
      std::make_shared<Source>("traced program", traced.context, std::move(traced.module));
  return Model(std::make_shared<Model::Impl>(source, options));
}

} // namespace dlc

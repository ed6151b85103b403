//===- Model.h - implementation of dlc::Model -----------------------------===//
#ifndef DLC_TOOLS_COMPILER_MODEL_H
#define DLC_TOOLS_COMPILER_MODEL_H

#include "tools/compiler/Programs.h"
#include "tools/compiler/include/dlc/compiler.hpp"

namespace dlc {

struct Model::Impl {
  Impl(std::shared_ptr<Source> source, const ModelOptions &options);

  static std::shared_ptr<runtime::Session> lenderOf(const ModelOptions &options);

  std::shared_ptr<Source> source;
  ProgramCache programs;
  std::vector<ModelValue> inputs, outputs;
  std::vector<ModelState> states;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_MODEL_H

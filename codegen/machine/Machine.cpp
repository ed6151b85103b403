//===- Machine.cpp - cost-model parameters of a machine -------------------===//
#include "codegen/machine/Machine.h"

namespace dlc {

llvm::ArrayRef<CostParameter> getCostParameters() {
  static constexpr CostParameter table[] = {
#define FIGURE(name, scale, what) {#name, ParameterScaling::scale, what, &Machine::name},
#include "codegen/machine/Figures.def"
#undef FIGURE
  };
  return table;
}

} // namespace dlc

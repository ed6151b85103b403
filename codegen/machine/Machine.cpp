//===- Machine.cpp - cost-model parameters of a machine -------------------===//
#include "codegen/machine/Machine.h"

namespace dlc {

llvm::ArrayRef<Figure> figures() {
  static constexpr Figure table[] = {
#define FIGURE(name, scale, what) {#name, FigureScale::scale, what, &Machine::name},
#include "codegen/machine/Figures.def"
#undef FIGURE
  };
  return table;
}

} // namespace dlc

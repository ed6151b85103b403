//===- Machine.cpp - the figures of a machine that the cost model uses -----===//
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

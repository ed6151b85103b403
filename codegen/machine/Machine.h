//===- Machine.h - the figures of a machine that the cost model uses ------===//
#ifndef DLC_CODEGEN_MACHINE_MACHINE_H
#define DLC_CODEGEN_MACHINE_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace dlc {

/// What the cost model believes of hardware and libraries: Figures.def says what each figure is.
/// Good enough to rank what differs by factors; what else was measured stands in Corrections.h.
struct Machine {
#define FIGURE(name, scale, what) double name = 0;
#include "codegen/machine/Figures.def"
#undef FIGURE
};

/// Which measured rate a figure follows.
enum class FigureScale { None, Products, Near, Cache, Memory, Streamed, Waking };

struct Figure {
  llvm::StringLiteral name;
  FigureScale scale;
  llvm::StringLiteral what;
  double Machine::*field;
};

/// The table, in its order.
llvm::ArrayRef<Figure> figures();

} // namespace dlc
#endif

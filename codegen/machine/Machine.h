//===- Machine.h - cost-model parameters of a machine ---------------------===//
#ifndef DLC_CODEGEN_MACHINE_MACHINE_H
#define DLC_CODEGEN_MACHINE_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace dlc {

/// Cost-model parameters of hardware and libraries, described in Figures.def. They rank kernels
/// whose times differ by factors; Corrections.h adds measured samples.
struct Machine {
#define FIGURE(name, scale, what) double name = 0;
#include "codegen/machine/Figures.def"
#undef FIGURE
};

/// Measured rate that a parameter is scaled with.
enum class FigureScale { None, Products, Near, Cache, Memory, Streamed, Waking };

struct Figure {
  llvm::StringLiteral name;
  FigureScale scale;
  llvm::StringLiteral what;
  double Machine::*field;
};

/// Returns all parameters in the order of Figures.def.
llvm::ArrayRef<Figure> figures();

} // namespace dlc
#endif

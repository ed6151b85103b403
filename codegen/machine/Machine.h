//===- Machine.h - cost-model parameters of a machine ---------------------===//
#ifndef DLC_CODEGEN_MACHINE_MACHINE_H
#define DLC_CODEGEN_MACHINE_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace dlc {

/// Cost-model parameters of a processor and of libraries on it, described in Figures.def. Estimates
/// from them distinguish kernels whose times differ by factors. Measured samples refine the
/// estimates (Corrections.h).
struct Machine {
#define FIGURE(name, scale, what) double name = 0;
#include "codegen/machine/Figures.def"
#undef FIGURE
};

/// Measured rate by which a cost-model parameter is scaled on another machine; None: the parameter
/// is not scaled.
enum class ParameterScaling { None, Products, Near, Cache, Memory, Streamed, Waking };

struct CostParameter {
  llvm::StringLiteral name;
  ParameterScaling scale;
  llvm::StringLiteral what;
  double Machine::*field;
};

/// Returns descriptions of all cost-model parameters, in the order of Figures.def.
llvm::ArrayRef<CostParameter> getCostParameters();

} // namespace dlc
#endif

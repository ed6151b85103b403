//===- Candidates.h - candidate kernels of an operation -------------------===//
#ifndef DLC_CODEGEN_SELECT_CANDIDATES_CANDIDATES_H
#define DLC_CODEGEN_SELECT_CANDIDATES_CANDIDATES_H

#include "codegen/machine/Profiles.h"
#include "codegen/options/Options.h"
#include "codegen/providers/Provider.h"

namespace dlc {

/// Returns the machine profile on which estimated times are based.
const Profile &chooseProfile(const CompileOptions &options, const cpu::Target &target);

/// Returns those properties of the compile options on which candidates depend.
SelectionContext selectionContextOf(const CompileOptions &options, const cpu::Target &target,
                                    bool every = false);

/// Returns the candidates for the operation on its device, sorted by estimated time. Appends the
/// reasons of providers that cannot implement it to `refusals`. `every`: libraries propose all
/// implementations worth measuring, not only the one that they prefer. `generated`: includes
/// generated code.
std::vector<Candidate> candidatesFor(mlir::Operation *op, const CompileOptions &options,
                                     const cpu::Target &target, bool every, std::string &refusals,
                                     bool generated = true);

/// Removes candidates that need more scratch memory than the options allow, unless all candidates
/// need more.
void boundWorkspace(std::vector<Candidate> &candidates, const CompileOptions &options,
                    std::string &refusals);

} // namespace dlc
#endif

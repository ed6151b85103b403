//===- Candidates.h - all kernels that could do an operation --------------===//
#ifndef DLC_CODEGEN_SELECT_CANDIDATES_H
#define DLC_CODEGEN_SELECT_CANDIDATES_H

#include "codegen/machine/Profiles.h"
#include "codegen/options/Options.h"
#include "codegen/providers/Provider.h"

namespace dlc {

/// What estimates go by.
const Profile &profileOf(const CompileOptions &options, const cpu::Target &target);

/// What candidates depend on, of the options.
Situation situationOf(const CompileOptions &options, const cpu::Target &target, bool every = false);

/// Who can do it on the host, the cheapest by estimate first. `refusals` gets why others cannot.
/// With `every`, libraries give all implementations worth a measurement, not only the one that they
/// prefer; `generated`: and who generates code.
std::vector<Candidate> candidatesFor(mlir::Operation *op, const CompileOptions &options,
                                     const cpu::Target &target, bool every, std::string &refusals,
                                     bool generated = true);

/// Takes those out that want more scratch memory than the options allow, where others stay.
void boundWorkspace(std::vector<Candidate> &candidates, const CompileOptions &options,
                    std::string &refusals);

} // namespace dlc
#endif

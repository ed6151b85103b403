//===- Processor.h - the machine that figures were measured on -------------===//
#ifndef DLC_CODEGEN_MACHINE_PROCESSOR_H
#define DLC_CODEGEN_MACHINE_PROCESSOR_H

#include <string>

namespace dlc {

/// The processor's own name, with family, model and stepping; "unknown" where the system does not
/// say.
const std::string &processorModel();
/// The first core's caches: "32K+48K 2048K 107520K", from the first level on.
const std::string &processorCaches();

} // namespace dlc
#endif

//===- Processor.h - model and caches of the host CPU ---------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROCESSOR_H
#define DLC_CODEGEN_MACHINE_PROCESSOR_H

#include <string>

namespace dlc {

/// Returns the CPU's model name with family, model and stepping; "unknown" if the system does not
/// report it.
const std::string &processorModel();
/// Returns the sizes of the first core's caches by level: "32K+48K 2048K 107520K".
const std::string &processorCaches();

} // namespace dlc
#endif

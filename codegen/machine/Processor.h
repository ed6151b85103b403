//===- Processor.h - model and caches of the host CPU ---------------------===//
#ifndef DLC_CODEGEN_MACHINE_PROCESSOR_H
#define DLC_CODEGEN_MACHINE_PROCESSOR_H

#include <string>

namespace dlc {

/// Returns the model name of the CPU with family, model and stepping; "unknown" if the system does
/// not report them.
const std::string &processorModel();
/// Returns the cache sizes of the first core, by level, such as "32K+48K 2048K 107520K".
const std::string &processorCaches();

} // namespace dlc
#endif

//===- Describe.h - attention: interface for the compiler -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace dlc::attention {

/// Returns the number of f32 lanes of the kernels for this machine: 16 with AVX-512, otherwise 8.
/// ONEDNN_MAX_CPU_ISA limits this number, too.
DLC_EXPORT int lanes();
/// Returns true if this machine can compute the matmuls of attention on AMX tiles.
DLC_EXPORT bool hasTiles();
/// Returns the size of the scratch memory of a description's call, or -1 if this machine cannot
/// create the call.
DLC_EXPORT int64_t scratchBytes(const nlohmann::json &desc, int threads);

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_DESCRIBE_H

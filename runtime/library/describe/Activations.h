//===- Activations.h - the names of activations ------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H

#include "dlc/Export.h"
#include "runtime/library/simd/Activation.h"

#include <optional>
#include <string_view>

namespace dlc::describe {

/// By oneDNN's name; nothing where our own kernels have no such function.
DLC_EXPORT std::optional<simd::Activation> activationNamed(std::string_view name);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H

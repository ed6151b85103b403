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

/// Parameter of an activation, as a description has it. A description has no infinities: the
/// largest and smallest numbers as bounds of a clip mean that there is no bound.
DLC_EXPORT float activationParameter(simd::Activation activation, double value);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H

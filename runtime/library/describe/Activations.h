//===- Activations.h - activation functions by name -----------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H

#include "dlc/Export.h"
#include "runtime/library/simd/Activation.h"

#include <optional>
#include <string_view>

namespace dlc::describe {

/// Returns the activation with oneDNN's name `name`, or nullopt if dlc's own kernels do not
/// implement it.
DLC_EXPORT std::optional<simd::Activation> parseActivation(std::string_view name);

/// Converts an activation's parameter from a description to f32. JSON has no infinities: a clip
/// bound of at least the largest finite f32 in magnitude becomes infinite, that is, no bound.
DLC_EXPORT float activationParameter(simd::Activation activation, double value);

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_ACTIVATIONS_H

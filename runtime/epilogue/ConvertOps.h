//===- ConvertOps.h - conversions between enumerators of epilogue ops -----===//
//
// An enumeration of runtime/library/schema that has the rows of EpilogueOps.def has enumerators
// with the names of Activation and EpilogueBinary.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_EPILOGUE_CONVERTOPS_H
#define DLC_RUNTIME_EPILOGUE_CONVERTOPS_H

#include "runtime/epilogue/EpilogueOps.h"

#include <optional>

namespace dlc {

/// Returns the activation of a schema's enumerator, or nullopt if the enumerator is another op.
template <typename Enum> constexpr std::optional<Activation> activationOf(Enum op) {
  switch (op) {
#define ACTIVATION(enumerator, ...)                                                                \
  case Enum::enumerator:                                                                           \
    return Activation::enumerator;
#define PARAMETRIC_ACTIVATION(enumerator, ...)                                                     \
  case Enum::enumerator:                                                                           \
    return Activation::enumerator;
#include "runtime/epilogue/EpilogueOps.def"
  default:
    return std::nullopt;
  }
}

/// Returns the enumerator of a schema for an activation.
template <typename Enum> constexpr Enum convertOp(Activation activation) {
  switch (activation) {
#define ACTIVATION(enumerator, ...)                                                                \
  case Activation::enumerator:                                                                     \
    return Enum::enumerator;
#define PARAMETRIC_ACTIVATION(enumerator, ...)                                                     \
  case Activation::enumerator:                                                                     \
    return Enum::enumerator;
#include "runtime/epilogue/EpilogueOps.def"
  }
  return Enum();
}

/// Returns the enumerator of a schema for an op with a second operand.
template <typename Enum> constexpr Enum convertOp(EpilogueBinary binary) {
  switch (binary) {
#define BINARY(enumerator, ...)                                                                    \
  case EpilogueBinary::enumerator:                                                                 \
    return Enum::enumerator;
#include "runtime/epilogue/EpilogueOps.def"
  }
  return Enum();
}

} // namespace dlc

#endif // DLC_RUNTIME_EPILOGUE_CONVERTOPS_H

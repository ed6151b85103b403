//===- Guarded.h - converts exceptions to dlc_error at the C boundary --------===//
#ifndef DLC_RUNTIME_SESSION_CAPI_GUARDED_H
#define DLC_RUNTIME_SESSION_CAPI_GUARDED_H

#include "dlc/dlc.h"
#include "runtime/program/Message.h"

#include <initializer_list>
#include <new>
#include <string>

struct dlc_error {
  std::string message;
};

namespace dlc::runtime {

/// Runs `body` and converts its exception to a dlc_error; returns NULL on success. No exception may
/// leave the C interface.
template <typename Body> dlc_error *catchErrors(Body &&body) {
  try {
    body();
    return nullptr;
  } catch (const std::bad_alloc &) {
    return new dlc_error{"out of memory"};
  } catch (const std::exception &error) {
    return new dlc_error{error.what()};
  }
}

/// A pointer that a caller passes to a function of the C interface, with its parameter's name.
struct PointerArgument {
  const char *name;
  const void *pointer;
};

/// Fails if one of the arguments of a function of the C interface is a null pointer.
inline void requireArguments(const char *function,
                             std::initializer_list<PointerArgument> arguments) {
  for (const PointerArgument &argument : arguments)
    if (!argument.pointer)
      fail(function, ": argument '", argument.name, "' is NULL; pass a valid pointer");
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPI_GUARDED_H

//===- Handles.h - contents of the C interface's opaque types ----------------===//
//
// Used by the compiler, which builds programs in memory and returns them to users as C or C++
// objects.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SESSION_CAPI_HANDLES_H
#define DLC_RUNTIME_SESSION_CAPI_HANDLES_H

#include "dlc/dlc.h"
#include "runtime/session/Session.h"

namespace dlc::runtime {

/// Wraps a program in memory for the C interface. Validates the program; throws dlc::Error.
DLC_EXPORT dlc_program *wrapProgram(std::shared_ptr<const Program> program);

/// Returns the current C++ session of a handle of the C interface.
DLC_EXPORT Session &sessionOf(dlc_session *session);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPI_HANDLES_H

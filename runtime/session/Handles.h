//===- Handles.h - what the C interface's opaque types hold -------------------===//
//
// For the compiler, which makes programs in memory and hands them to users as C or C++ objects.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_SESSION_HANDLES_H
#define DLC_RUNTIME_SESSION_HANDLES_H

#include "dlc/dlc.h"
#include "runtime/session/Session.h"

namespace dlc::runtime {

/// A program of the C interface around one in memory; checks it. Throws dlc::Error.
DLC_EXPORT dlc_program *wrapProgram(std::shared_ptr<const Program> program);

/// The session behind a handle of the C interface.
DLC_EXPORT Session &sessionOf(dlc_session *session);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_HANDLES_H

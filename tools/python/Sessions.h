//===- Sessions.h - runtime sessions as Python objects, with support for fork -----------------===//
#ifndef DLC_TOOLS_PYTHON_SESSIONS_H
#define DLC_TOOLS_PYTHON_SESSIONS_H

#include "runtime/session/Session.h"
#include "tools/python/Names.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// Returns the number of forks between the first process and this one, which identifies the
/// process.
unsigned process();

/// A runtime session and the process that created it. A forked process has none of the threads of
/// its parent's sessions, and their locks may be held, so it can neither run nor destroy these
/// sessions.
class Session {
public:
  explicit Session(std::shared_ptr<runtime::Session> made)
      : made(new std::shared_ptr<runtime::Session>(std::move(made))), bornIn(process()) {}
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  bool isHere() const { return bornIn == process(); }
  /// Returns the runtime session. Throws a Python exception if the session belongs to another
  /// process.
  runtime::Session &here() const;
  const std::shared_ptr<runtime::Session> &shared() const { return *made; }
  /// Creates another session of the same program, with a copy of the current state.
  std::shared_ptr<Session> again() const;

private:
  std::shared_ptr<runtime::Session> *const made; ///< leaked in a forked process
  const unsigned bornIn;
};

void bindSession(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_SESSIONS_H

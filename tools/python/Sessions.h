//===- Sessions.h - runtime sessions as Python objects, with support for fork -----------------===//
#ifndef DLC_TOOLS_PYTHON_SESSIONS_H
#define DLC_TOOLS_PYTHON_SESSIONS_H

#include "runtime/session/Session.h"
#include "tools/python/Names.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// Returns the number of forks between the first process and this one, which identifies the
/// process.
unsigned countForks();

/// A runtime session and the process that created it. A forked process has none of the threads of
/// its parent's sessions, and their locks may be held, so it can neither run nor destroy these
/// sessions.
class Session {
public:
  explicit Session(std::shared_ptr<runtime::Session> session)
      : session(new std::shared_ptr<runtime::Session>(std::move(session))), bornIn(countForks()) {}
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  bool isHere() const { return bornIn == countForks(); }
  /// Returns the runtime session. Throws a Python exception if the session belongs to another
  /// process.
  runtime::Session &here() const;
  const std::shared_ptr<runtime::Session> &shared() const { return *session; }
  /// Creates another session of the same program, with a copy of the current state.
  std::shared_ptr<Session> again() const;

private:
  /// Owned. A forked process does not delete it, because it has none of the session's threads and
  /// the session's locks may be held.
  std::shared_ptr<runtime::Session> *const session;
  const unsigned bornIn;
};

void bindSession(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_SESSIONS_H

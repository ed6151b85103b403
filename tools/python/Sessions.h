//===- Sessions.h - sessions as Python objects, across a fork ------------------===//
#ifndef DLC_TOOLS_PYTHON_SESSIONS_H
#define DLC_TOOLS_PYTHON_SESSIONS_H

#include "runtime/session/Session.h"
#include "tools/python/Names.h"

#include <nanobind/nanobind.h>

namespace dlc::python {

/// How often this process has forked away from its parent: 0 in the first one.
unsigned process();

/// A session, and the process that made it. A forked process has none of the threads of its
/// parent's sessions, and their locks as they were: it may neither run nor destroy them.
class Session {
public:
  explicit Session(std::shared_ptr<runtime::Session> made)
      : made(new std::shared_ptr<runtime::Session>(std::move(made))), bornIn(process()) {}
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  bool isHere() const { return bornIn == process(); }
  /// Throws a Python exception where it is another process's.
  runtime::Session &here() const;
  const std::shared_ptr<runtime::Session> &shared() const { return *made; }
  /// Another session of the same program, with the state as it is now.
  std::shared_ptr<Session> again() const;

private:
  std::shared_ptr<runtime::Session> *const made; ///< left alone elsewhere
  const unsigned bornIn;
};

void bindSession(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_SESSIONS_H

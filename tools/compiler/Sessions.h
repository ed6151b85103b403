//===- Sessions.h - sessions of a model file for language bindings --------===//
//
// The part of the compiler that a language binding needs, without MLIR types in the interface.
// Bindings define their own model class, so they use this class instead of dlc::Model
// (dlc/compiler.hpp).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_TOOLS_COMPILER_SESSIONS_H
#define DLC_TOOLS_COMPILER_SESSIONS_H

#include "runtime/session/Session.h"
#include "tools/compiler/ValueInfo.h"
#include "tools/compiler/include/dlc/compiler.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlc {

class Source;

/// A model file with one session for each set of input shapes. Sessions are created when they are
/// first requested.
class SessionCache {
public:
  /// Callbacks during compilation, which may be called by any thread.
  struct Hooks {
    /// Polled frequently during compilation. After it has returned true, get() throws Cancelled.
    std::function<bool()> isCancelled;
    /// Receives the name of the current compilation activity, and `done` of `total` items.
    std::function<void(const std::string &what, int done, int total)> progress;
  };

  /// Opens the model file `path`. All members of Sessions throw dlc::Error.
  explicit SessionCache(const std::string &path, const ModelOptions &options = {},
                        Hooks hooks = {});
  /// Creates the sessions of a model that is not read from a file (tools/compiler/Graphs.h).
  explicit SessionCache(std::shared_ptr<Source> source, const ModelOptions &options = {},
                        Hooks hooks = {});
  ~SessionCache();
  SessionCache(const SessionCache &) = delete;
  SessionCache &operator=(const SessionCache &) = delete;

  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// Returns the initializers that become inputs if the shapes passed to get() name them.
  const std::vector<ValueInfo> &defaults() const;

  /// Returns the session for these input shapes, and compiles it if it is not cached. Inputs with a
  /// static shape may be omitted. `values` are inputs whose values may determine shapes; they are
  /// read during the call and not retained. Thread-safe.
  std::shared_ptr<runtime::Session> get(const std::map<std::string, std::vector<int64_t>> &shapes,
                                        const std::map<std::string, Tensor> &values = {});

  /// Exception that get() throws after cancellation.
  struct Cancelled {};

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_SESSIONS_H

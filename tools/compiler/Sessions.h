//===- Sessions.h - sessions of a model file, for other languages --------------===//
//
// What a binding needs of the compiler, without MLIR in the interface: it has types, names and
// calls of its own, so dlc::Model (dlc/compiler.hpp) would stand in its way.
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

/// A model file and one session for each set of input shapes, made when first asked for.
class Sessions {
public:
  /// What is called while a program is compiled, by any thread.
  struct Hooks {
    /// Asked often; once it says yes, get() throws Cancelled.
    std::function<bool()> isCancelled;
    /// What is done, and how many of how many.
    std::function<void(const std::string &what, int done, int total)> progress;
  };

  /// Everything throws dlc::Error.
  explicit Sessions(const std::string &path, const ModelOptions &options = {}, Hooks hooks = {});
  /// Of a model that no file holds (tools/compiler/Graphs.h).
  explicit Sessions(std::shared_ptr<Source> source, const ModelOptions &options = {},
                    Hooks hooks = {});
  ~Sessions();
  Sessions(const Sessions &) = delete;
  Sessions &operator=(const Sessions &) = delete;

  const std::vector<ValueInfo> &inputs() const;
  const std::vector<ValueInfo> &outputs() const;
  /// Initializers that become inputs where the shapes given to get() name them.
  const std::vector<ValueInfo> &defaults() const;

  /// Inputs whose shape is static may be left out. `values` are those that may decide about shapes;
  /// they are looked at, not kept. Thread-safe.
  std::shared_ptr<runtime::Session> get(const std::map<std::string, std::vector<int64_t>> &shapes,
                                        const std::map<std::string, Tensor> &values = {});

  /// What get() throws when it was cancelled.
  struct Cancelled {};

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_SESSIONS_H

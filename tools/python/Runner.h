//===- Runner.h - calls of a model from Python ----------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RUNNER_H
#define DLC_TOOLS_PYTHON_RUNNER_H

#include "tools/python/Arrays.h"
#include "tools/python/ResultMemory.h"
#include "tools/python/Sessions.h"

#include <list>
#include <span>
#include <utility>
#include <vector>

namespace dlc::python {

/// A model's values, and a session for each set of shapes that it was called with. dlc.Model is a
/// class of Python above it. Members are guarded by the GIL, which is released while a session
/// runs; calls of one session take turns.
class Runner {
public:
  Runner(std::vector<Value> inputs, std::vector<Value> outputs)
      : ins(std::move(inputs)), outs(std::move(outputs)) {}

  const std::vector<Value> &inputs() const { return ins; }
  const std::vector<Value> &outputs() const { return outs; }
  void add(std::shared_ptr<Session> session);
  /// The most recently used first.
  std::vector<std::shared_ptr<Session>> sessions();

  /// Of the arrays that the last call handed to its program, for tests: inputs and outputs.
  using Addresses = std::pair<std::vector<uintptr_t>, std::vector<uintptr_t>>;
  Addresses addresses() const;

  /// One array, or a tuple of them.
  nanobind::object call(nanobind::args positional, nanobind::kwargs named);
  /// A dictionary of arrays.
  nanobind::dict run(nanobind::dict named);

private:
  /// What a call needs of a session, found out once.
  struct Program {
    explicit Program(std::shared_ptr<Session> session, const std::vector<Value> &ins,
                     const std::vector<Value> &outs);
    ~Program() { ResultMemory::ofProcess().clear(); }
    std::shared_ptr<Session> session;
    /// Of each input of the plan the number of the model's, and of each output of the model the
    /// number of the plan's.
    std::vector<size_t> inputOf, outputOf;
    std::vector<Results> results; ///< in the order of the plan
  };
  using Programs = std::list<std::shared_ptr<Program>>;

  std::vector<nanobind::object> collect(nanobind::tuple positional, nanobind::dict named) const;
  std::vector<nanobind::object> runOn(const std::vector<nanobind::object> &arrays);
  bool fits(const Program &program, const std::vector<View> &views,
            const std::vector<const void *> &addresses) const;
  std::shared_ptr<Program> programFor(const std::vector<View> &views,
                                      const std::vector<const void *> &addresses);
  std::shared_ptr<Program> make(const std::vector<View> &views,
                                const std::vector<const void *> &addresses);
  static void compute(Program &program, const Family &family, std::span<const void *const> from,
                      std::span<void *const> to);
  void moveHere();
  std::string listed(const std::vector<Value> &values) const;

  std::vector<Value> ins, outs;
  Programs programs;
  std::vector<const void *> lastInputs, lastOutputs;
};

void bindRunner(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RUNNER_H

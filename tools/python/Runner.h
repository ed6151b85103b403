//===- Runner.h - calls a model from Python -------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RUNNER_H
#define DLC_TOOLS_PYTHON_RUNNER_H

#include "tools/python/Arrays.h"
#include "tools/python/ResultMemory.h"
#include "tools/python/Sessions.h"

#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dlc::python {

/// Base of the Python class dlc.Model: a model's inputs and outputs, with one session for each set
/// of input shapes. The members are guarded by the GIL, which is released while a session runs.
/// Calls of the same session are serialized.
class Runner {
public:
  Runner(std::vector<Value> inputs, std::vector<Value> outputs)
      : ins(std::move(inputs)), outs(std::move(outputs)) {}

  const std::vector<Value> &inputs() const { return ins; }
  const std::vector<Value> &outputs() const { return outs; }
  void add(std::shared_ptr<Session> session);
  /// Returns the cached sessions, most recently used first.
  std::vector<std::shared_ptr<Session>> sessions();

  /// Addresses of the input arrays and of the output arrays of the last call, for tests.
  using Addresses = std::pair<std::vector<uintptr_t>, std::vector<uintptr_t>>;
  Addresses addresses() const;

  /// An input or output that a call has copied.
  struct Copied {
    std::string name;
    uint64_t bytes;
    std::string reason;
  };
  /// Copies and stream of the last call.
  struct LastCall {
    std::vector<Copied> copies;
    /// Stream in which the program ran; unset if it ran in the session's own streams.
    std::optional<void *> stream;
    bool hasWaited = true; ///< whether the host has waited for the results
  };
  /// Returns the last call as a tuple: copies as (name, bytes, reason), stream, hasWaited.
  nanobind::tuple lastCall() const;

  /// Runs the model and returns its output as an array, or a tuple of arrays if the model has
  /// several outputs. The argument `stream` is the stream in which the program runs, unless the
  /// model has an input of this name.
  nanobind::object call(nanobind::args positional, nanobind::kwargs named);
  /// Runs the model and returns a dictionary of arrays by output name.
  nanobind::dict run(nanobind::handle named, nanobind::handle stream);

private:
  /// The arguments of one call.
  struct Arguments {
    explicit Arguments(size_t count) : views(count), copies(count), addresses(count) {}
    std::vector<ArrayView> views;
    std::vector<std::unique_ptr<char[]>> copies; ///< contiguous copies of arrays in host memory
    std::vector<const void *> addresses;
    ArrayTarget target;
    /// Current stream of the arrays' library, if it differs from the stream that the caller passes.
    /// The library allocates and releases arrays in the order of its current stream, so both
    /// streams wait for each other.
    std::optional<void *> libraryStream;
    ArrayFamily family; ///< family of the results
    std::vector<Copied> copied;
  };
  /// The arrays for the results of one call.
  struct Outputs {
    std::vector<nanobind::object> made;
    std::vector<void *> addresses;
    std::vector<runtime::Device *> devices; ///< null: the host
  };
  /// A cached session, with the mapping between the plan's and the model's inputs and outputs.
  struct Program {
    explicit Program(std::shared_ptr<Session> session, const std::vector<Value> &ins,
                     const std::vector<Value> &outs);
    ~Program() { ResultMemoryPool::ofProcess().clear(); }
    std::shared_ptr<Session> session;
    /// Index of the model's input for each input of the plan (`inputOf`), and index of the plan's
    /// output for each output of the model (`outputOf`).
    std::vector<size_t> inputOf, outputOf;
    std::vector<ResultArrays> results; ///< creators of the result arrays, in the plan's order
  };
  using Programs = std::list<std::shared_ptr<Program>>;

  std::vector<nanobind::object> collect(nanobind::tuple positional, nanobind::dict named) const;
  std::vector<nanobind::object> runOn(const std::vector<nanobind::object> &arrays,
                                      nanobind::handle stream);
  runtime::Device *device();
  void chooseStream(const std::vector<ArrayFamily> &families, nanobind::handle stream,
                    Arguments &arguments);
  void open(const std::vector<nanobind::object> &arrays, nanobind::handle stream,
            Arguments &arguments);
  bool fits(const Program &program, const Arguments &arguments) const;
  std::shared_ptr<Program> programFor(const Arguments &arguments);
  std::shared_ptr<Program> make(const Arguments &arguments);
  Outputs makeOutputs(const Program &program, const Arguments &arguments) const;
  static void compute(Program &program, const ArrayFamily &family,
                      std::span<const void *const> from, std::span<void *const> to);
  void computeOnDevice(Program &program, Arguments &arguments, Outputs &outputs);
  void moveHere();
  std::string listed(const std::vector<Value> &values) const;

  std::vector<Value> ins, outs;
  Programs programs;
  std::vector<const void *> lastInputs, lastOutputs;
  LastCall last;
  /// Device of the model's inputs and outputs; null: the host. Unset before the first call.
  std::optional<runtime::Device *> onDevice;
};

void bindRunner(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RUNNER_H

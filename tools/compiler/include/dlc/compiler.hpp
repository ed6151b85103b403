//===- compiler.hpp - compiles a model and runs it in the same process ----===//
//
//   auto net = dlc::compile("resnet50.onnx", {.device = "cpu"});
//   dlc::Tensor y = net.run({{"x", x}})["y"];
//
// Errors are thrown as dlc::Error, with the location, what was required, what was found, and a
// hint.
//
//===-------------------------------------------------------------------------------===//
#ifndef DLC_COMPILER_HPP
#define DLC_COMPILER_HPP

#include "dlc/dlc.hpp"
#include "dlc/options.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

namespace trace {
class Graph;
}

/// Description of a model's input or output. Dynamic dimensions are -1.
struct ModelValue {
  std::string name;
  /// Element type, or unset if dlc does not support it. No tensor can be passed for a value without
  /// a type.
  std::optional<DType> dtype;
  std::vector<int64_t> shape;
  bool hasRank = true;
};

/// Description of a state: a tensor that the model retains between runs.
struct ModelState {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  /// True if the state is a parameter, for which training computes a gradient.
  bool parameter = false;
};

/// One command of a program: its operation, kernel, device and source location.
struct ModelCommand {
  std::string op, name, implementation, device, location;
  double flops = 0, bytes = 0;
};

/// A model and the programs compiled from it. Copies share the programs. Thread-safe.
class Model {
public:
  const std::vector<ModelValue> &inputs() const;
  const std::vector<ModelValue> &outputs() const;

  /// Runs the program for the shapes of these inputs, and compiles it first if it is not cached.
  /// Returns the outputs by name.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;

  /// Compiles the program for these input shapes without running it. Inputs with a static shape may
  /// be omitted. Returns the compile time in seconds, or 0 if the program was cached.
  double prepare(const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// Writes the program for these input shapes to an artifact file (.dlcx).
  void save(const std::string &path,
            const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// Returns the commands of the program for these input shapes, in execution order.
  std::vector<ModelCommand>
  commands(const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// Returns the number of cached programs.
  size_t programs() const;
  /// Returns the number of programs that background tuning has replaced with faster ones
  /// (ModelOptions::tuneInBackground). isTuned() returns true if no background tuning is running.
  size_t swaps() const;
  bool isTuned() const;

  /// Returns the state tensors, which are retained between runs. A stateful model is compiled once,
  /// for one set of input shapes, when it is first run or its state is first accessed; see
  /// dlc::Session.
  const std::vector<ModelState> &states() const;
  Tensor state(const std::string &name) const;
  void setState(const std::string &name, const Tensor &value) const;
  /// Sets a state, and returns the memory of `value` to the system while it is copied, so that
  /// large tensors are never in memory twice. The contents of `value` must not be used afterwards.
  void moveState(const std::string &name, const Tensor &value) const;
  void resetState() const;
  /// Writes the state to a checkpoint file. If the program has collectives, all processes of the
  /// world must call this function together.
  void saveState(const std::string &path) const;
  void loadState(const std::string &path, LoadState options = {}) const;
  /// Checks that all ranks run the same program, and broadcasts rank 0's state to all ranks. All
  /// processes of the world (dlc::world()) must call this function together before the first run of
  /// a program with collectives. Throws in all processes if their programs or their `lines` differ;
  /// `lines` may contain settings that must be equal.
  void joinWorld(const std::vector<std::string> &lines = {}) const;
  /// Returns the memory use in bytes of the most recently used program. Compiles a program if there
  /// is none.
  dlc_memory_figures memory() const;

  struct Impl;
  explicit Model(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}

private:
  std::shared_ptr<Impl> impl;
};

/// Opens a model file (.onnx or .mlir), which is compiled when it is first run, or a compiled
/// program (.dlcx).
Model compile(const std::string &path, const ModelOptions &options = {});
/// Creates a model from a traced graph (dlc/trace.hpp), which is compiled when it is first run.
Model compile(trace::Graph &&graph, const ModelOptions &options = {});

} // namespace dlc

#endif // DLC_COMPILER_HPP

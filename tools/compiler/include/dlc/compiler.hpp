//===- compiler.hpp - compile a model and run it, in one process ------------------===//
//
//   auto net = dlc::compile("resnet50.onnx", {.device = "cpu"});
//   dlc::Tensor y = net.run({{"x", x}})["y"];
//
// Errors are dlc::Error: where, what was required, what was found, what to do.
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

/// What an input or output is; dimensions that are not static are -1.
struct ModelValue {
  std::string name;
  /// Nothing when dlc has no such type; no tensor of it can be given then.
  std::optional<DType> dtype;
  std::vector<int64_t> shape;
  bool hasRank = true;
};

/// What lives in the model from run to run.
struct ModelState {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  /// Gradients go to it.
  bool parameter = false;
};

/// One thing that a program does, and where.
struct ModelCommand {
  std::string op, name, implementation, device, location;
  double flops = 0, bytes = 0;
};

/// A model with the programs compiled of it. Copies share them; any thread may use any copy.
class Model {
public:
  const std::vector<ModelValue> &inputs() const;
  const std::vector<ModelValue> &outputs() const;

  /// Compiles for the shapes of these inputs, unless a program for them is there, and runs it.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &inputs) const;

  /// Compiles for these shapes without running; inputs whose shape is static may be left out.
  /// Returns the seconds it took (about 0 when the program was there).
  double prepare(const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// Writes the program for these shapes as an artefact (.dlcx).
  void save(const std::string &path,
            const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// What the program for these shapes does, in order.
  std::vector<ModelCommand>
  commands(const std::map<std::string, std::vector<int64_t>> &shapes = {}) const;
  /// How many programs are kept now.
  size_t programs() const;
  /// How often a program with faster kernels took over (ModelOptions::tuneInBackground), and
  /// whether all is measured.
  size_t swaps() const;
  bool isTuned() const;

  /// What lives from run to run; such a model is compiled once, for one set of shapes, when it is
  /// first run or asked for its state. See dlc::Session for what follows.
  const std::vector<ModelState> &states() const;
  Tensor state(const std::string &name) const;
  void setState(const std::string &name, const Tensor &value) const;
  /// The same, and the tensor's memory, of which nothing else may need the contents, goes back to
  /// the system as they are copied: large ones are never in memory twice.
  void moveState(const std::string &name, const Tensor &value) const;
  void resetState() const;
  /// Of a program that has collectives, all processes of the world call it together.
  void saveState(const std::string &path) const;
  void loadState(const std::string &path, LoadState options = {}) const;
  /// Before the first run of a program that has collectives, by all processes of the world together
  /// (dlc::world()): throws in all of them where they have different programs, or lines, such as
  /// settings that must be the same. Rank 0's state becomes everybody's.
  void joinWorld(const std::vector<std::string> &lines = {}) const;
  /// Bytes of the program that was used last; one is compiled where there is none yet.
  dlc_memory_figures memory() const;

  struct Impl;
  explicit Model(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}

private:
  std::shared_ptr<Impl> impl;
};

/// Opens a model file: .onnx, .mlir, or a compiled .dlcx.
Model compile(const std::string &path, const ModelOptions &options = {});
/// Takes a traced program (dlc/trace.hpp).
Model compile(trace::Graph &&graph, const ModelOptions &options = {});

} // namespace dlc

#endif // DLC_COMPILER_HPP

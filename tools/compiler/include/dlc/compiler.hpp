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

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

namespace trace {
class Graph;
}

class Model;

struct ModelOptions {
  /// Where inputs, outputs and all else stand.
  std::string device = "cpu";
  /// PATTERN=DEVICE: operations of layers (nodes) of such names; input:PATTERN=DEVICE and
  /// output:PATTERN=DEVICE; all others where it costs least, auto:cpu,cuda:0=8GiB, or parallel
  /// branches at the same time, split:cpu,cpu:1.
  std::vector<std::string> place = {};
  /// Operations of such names may not need a transfer that nobody wrote; empty: any may.
  std::string forbidTransfers = {};
  /// 0: as many as the process may use.
  int threads = 0;
  /// Measure candidate kernels instead of asking the cost model.
  bool tune = false;
  /// Seconds to measure kernels behind a program that runs already, on the model's choice: between
  /// its runs, in another thread. What is faster is swapped in from one run to the next, its state
  /// going over; the choices are kept in the tuning database of `cacheDir`. 0: not.
  double tuneBehind = 0;
  /// none, bf16 or f16: products take operands of 16 bits and sum in f32; so activations take half
  /// the memory. Parameters, losses and updates stay f32.
  std::string precision = "none";
  /// highest, high or medium: products of f32 may round their operands to tf32 on GPUs, to two bf16
  /// parts on processors with tiles (high), to bf16 (medium).
  std::string matmulPrecision = "highest";
  /// strict: sums of f32 as written. default: convolutions with fewer products and, on processors
  /// with tiles, products of two bf16 parts of each number; errors up to 2e-5 of the largest
  /// result. fast: also what matmulPrecision = medium allows.
  std::string accuracy = "default";
  /// PATTERN=strict|default|fast: products of layers (nodes) of such names, whatever `accuracy`.
  std::vector<std::string> accuracyOf = {};
  /// f32, bf16 or int8 (with a scale for each column): what constant weights of matrix products are
  /// kept in. They are read from memory as such, and made f32 on the way to the product.
  std::string weights = "f32";
  /// PATTERN=f32|bf16|f16: operations of layers (nodes) of such names, whatever `precision`.
  std::vector<std::string> precisionOf = {};
  /// Bytes of state, constants and intermediate values that a training step may take: what does not
  /// fit is computed again for the backward pass. 0: any.
  int64_t maxMemory = 0;
  /// A program is made for each set of input shapes that the model is run with; so many are kept.
  size_t maxPrograms = 16;
  /// Where object code and tuning results are kept; by default $DLC_CACHE_DIR or the user's cache.
  /// Empty: nowhere.
  std::optional<std::string> cacheDir = std::nullopt;
  /// States that the other model has by the same name are its memory: what one writes the other
  /// reads. Types must agree. Their runs then take turns. Null: nothing is shared.
  const Model *shareState = nullptr;
};

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
  /// How often a program with faster kernels took over (ModelOptions::tuneBehind), and whether all
  /// is measured.
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
  void saveState(const std::string &path) const;
  void loadState(const std::string &path, LoadState options = {}) const;
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

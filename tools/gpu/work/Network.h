//===- Network.h - a benchmark network prepared for one measurement -------===//
#ifndef DLC_TOOLS_GPU_WORK_NETWORK_H
#define DLC_TOOLS_GPU_WORK_NETWORK_H

#include "dlc/compiler.hpp"
#include "dlc/train.hpp"
#include "runtime/session/Session.h"
#include "tools/bench/networks/Training.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::gpu {

using Json = nlohmann::ordered_json;

/// Specification of a measurement: a network in a mode and precision on a device.
struct MeasurementTask {
  std::string network, mode = "inference", precision = "f32", device = "cuda:0";
  int64_t batch = 0; ///< batch size; 0: the network's default
  bool tune = false;

  bool trains() const { return mode == "training"; }
};

double now();

/// Returns the compile options for the task's precision. f32: matmuls in f32; tf32: matmuls may
/// round their operands to TF32; bf16: option `precision` is bf16.
ModelOptions makeModelOptions(const MeasurementTask &task);

/// Returns a tensor of random elements that are the same on every machine: floats in [-1, 1),
/// integers in [0, limit).
Tensor randomTensor(const trace::Spec &spec, int64_t limit, uint64_t seed);

/// A network with its inputs in host memory; for training, the last input is the target.
struct PreparedNetwork {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
  std::vector<Tensor> batch;
};
/// How the parameters of a network are initialized.
enum class Initialization {
  Usual,   ///< the default initialization of training
  Lively,  ///< keeps activations at the same magnitude through many layers; with the default
           ///< initialization they may vanish, so that a comparison is meaningless
  Settled, ///< the default initialization, but with norms that do not amplify rounding errors in
           ///< deep networks, and random numbers for parameters that are 0 or 1, where errors would
           ///< be hidden
};
PreparedNetwork prepareNetwork(const MeasurementTask &task, Initialization start);

Model compileInferenceModel(const MeasurementTask &task, const PreparedNetwork &prepared);
Step compileTrainingStep(const MeasurementTask &task, const PreparedNetwork &prepared);

/// A program with its arrays on its device. Runs do not transfer data, so they can be captured as a
/// GPU graph.
class ProgramBench {
public:
  ProgramBench(std::shared_ptr<runtime::Program> program, const std::vector<trace::Spec> &inputs,
               const std::vector<Tensor> &batch, const std::string &device);
  ~ProgramBench();
  void run();
  /// Fills the outputs with a garbage pattern, runs the program, and returns the bytes of each
  /// output.
  std::vector<std::vector<char>> runSpoiled();
  runtime::Session &session() { return *made; }

private:
  struct Arrays;
  std::unique_ptr<runtime::Session> made;
  std::unique_ptr<Arrays> arrays;
};
/// Creates the bench of a stateless model. The program is temporarily written to `folder`.
std::unique_ptr<ProgramBench> benchOf(const Model &model, const PreparedNetwork &prepared,
                                      const MeasurementTask &task, const std::string &folder);
/// Creates the bench of a training step, with its current state.
std::unique_ptr<ProgramBench> benchOf(Step &step, const PreparedNetwork &prepared,
                                      const MeasurementTask &task, const std::string &folder);

/// Measures of the difference between two f32 arrays.
struct ArrayDifference {
  double norm = 0;    ///< relative error in the L2 norm: ‖got − want‖ / ‖want‖
  double largest = 0; ///< largest absolute difference, divided by the largest absolute value
  int64_t bad = 0;    ///< number of elements that are not finite
};
ArrayDifference computeDifference(const float *got, const float *want, size_t count);

double median(std::vector<double> values);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_WORK_NETWORK_H

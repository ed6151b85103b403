//===- Network.h - a benchmark network made for one measurement -----------===//
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

/// What is measured: a network in a mode and a precision, on a device.
struct Task {
  std::string network, mode = "inference", precision = "f32", device = "cuda:0";
  int64_t batch = 0; ///< 0: the network's usual one
  bool tune = false;

  bool trains() const { return mode == "training"; }
};

double now();

/// f32: products as written; tf32: they may round their operands; bf16: 16 bits wherever the
/// compiler's precision says so.
ModelOptions optionsOf(const Task &task);

/// The same elements on every machine: floats in [-1, 1), integers below `limit`.
Tensor randomTensor(const trace::Spec &spec, int64_t limit, uint64_t seed);

/// The inputs, and for training the target behind them, in the host's memory.
struct Prepared {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
  std::vector<Tensor> batch;
};
/// The parameters' values.
enum class Start {
  Usual,  ///< what training starts with
  Lively, ///< keep numbers of one size through many layers: the usual ones may make them smaller in
          ///< each, until nothing is compared
  Settled, ///< the usual ones, with norms that do not multiply roundings in deep networks, and
           ///< random numbers for what starts at 0 or 1, where errors would hide
};
Prepared prepare(const Task &task, Start start);

Model inferenceModel(const Task &task, const Prepared &prepared);
Step trainingStep(const Task &task, const Prepared &prepared);

/// A program with its arrays on its device, so that nothing crosses and runs can be captured.
class Bench {
public:
  Bench(std::shared_ptr<runtime::Program> program, const std::vector<trace::Spec> &inputs,
        const std::vector<Tensor> &batch, const std::string &device);
  ~Bench();
  void run();
  /// Bytes of each output, with whatever they were before the run spoiled.
  std::vector<std::vector<char>> runSpoiled();
  runtime::Session &session() { return *made; }

private:
  struct Arrays;
  std::unique_ptr<runtime::Session> made;
  std::unique_ptr<Arrays> arrays;
};
/// Of a model that has no state; `folder` holds its file for a moment.
std::unique_ptr<Bench> benchOf(const Model &model, const Prepared &prepared, const Task &task,
                               const std::string &folder);
/// Of a training step, which gets its parameters.
std::unique_ptr<Bench> benchOf(Step &step, const Prepared &prepared, const Task &task,
                               const std::string &folder);

/// How two arrays of f32 differ.
struct Difference {
  double norm = 0;    ///< ‖got − want‖ / ‖want‖
  double largest = 0; ///< the largest difference over the largest value
  int64_t bad = 0;    ///< elements that are no finite numbers
};
Difference differenceOf(const float *got, const float *want, size_t count);

double median(std::vector<double> values);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_WORK_NETWORK_H

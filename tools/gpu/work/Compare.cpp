//===- Compare.cpp - compares the results of a network between devices ----===//
#include "tools/gpu/work/Commands.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

namespace dlc::gpu {
namespace {

/// Maximum relative differences to the CPU's results by precision: several times the error of bf16
/// that was observed on CPUs (outputs 1.2e-2, updates 1e-2, updates of ResNet-56 2e-1).
struct Tolerances {
  double output, loss, update;
};
Tolerances getTolerances(const std::string &precision) {
  if (precision == "bf16")
    return {5e-2, 5e-2, 5e-1};
  if (precision == "tf32")
    return {1e-2, 1e-2, 1e-1};
  return {1e-4, 1e-4, 1e-2};
}

std::string referenceFilePath(const MeasurementTask &task, const std::string &folder,
                              const char *what) {
  return folder + "/" + task.network + "." + task.mode + "." + what;
}

void writeFloats(const std::string &path, const std::vector<float> &values) {
  std::ofstream file(path + ".part", std::ios::binary);
  file.write(reinterpret_cast<const char *>(values.data()),
             std::streamsize(values.size() * sizeof(float)));
  file.close();
  if (!file || std::rename((path + ".part").c_str(), path.c_str()) != 0)
    throw Error(path + ": cannot be written");
}

std::vector<float> readFloats(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw Error(path + ": does not exist; the CPU run of this network did not come to its end");
  std::vector<float> values(size_t(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char *>(values.data()),
            std::streamsize(values.size() * sizeof(float)));
  return values;
}

std::vector<float> copyParameters(const nn::Module &module) {
  std::vector<float> all;
  for (const trace::Parameter &parameter : module.parameters()) {
    if (parameter.dtype() != DType::F32 || parameter.isBuffer())
      continue;
    trace::Array value = parameter.value();
    all.insert(all.end(), value.as<float>(), value.as<float>() + value.size());
  }
  return all;
}

std::vector<Tensor> copyToDevice(const std::vector<Tensor> &batch, const std::string &device) {
  std::vector<Tensor> there;
  for (const Tensor &tensor : batch)
    there.push_back(tensor.to(device));
  return there;
}

struct TrainingResult {
  std::vector<float> losses, parameters, before;
  double compileSeconds = 0, stepMs = 0;
};

TrainingResult runTraining(const MeasurementTask &task, int steps) {
  PreparedNetwork prepared = prepareNetwork(task, Initialization::Settled);
  TrainingResult result;
  result.before = copyParameters(*prepared.module);
  Step step = compileTrainingStep(task, prepared);
  result.compileSeconds = step.prepare();
  std::vector<Tensor> batch = copyToDevice(prepared.batch, task.device);
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    double start = now();
    result.losses.push_back(step.run(batch));
    times.push_back((now() - start) * 1e3);
    // Parameters are compared after the first training step only, where the update is proportional
    // to the gradient. Deep networks amplify rounding errors in each further step.
    if (i == 0)
      result.parameters = copyParameters(*prepared.module);
  }
  result.stepMs = times.back();
  return result;
}

Json jsonOf(const ArrayDifference &difference) {
  return {{"norm", difference.norm}, {"largest", difference.largest}, {"bad", difference.bad}};
}

/// Returns the number of commands of each kind: operation, or kernel of a library.
Json countCommandKinds(const std::vector<runtime::CommandInfo> &commands) {
  std::map<std::string, int> kinds;
  for (const runtime::CommandInfo &command : commands)
    ++kinds[command.op == "library" ? command.implementation : command.op];
  return Json(kinds);
}

void setVerdict(Json &result, const std::string &why) {
  std::string before = result.value("why", "");
  result["ok"] = why.empty() && before.empty();
  result["why"] = before.empty() ? why : why.empty() ? before : before + "; " + why;
}

std::string describeExcess(const char *what, double found, double most) {
  // The comparison is written so that NaN counts as exceeding the limit.
  if (found <= most)
    return "";
  char text[160];
  std::snprintf(text, sizeof text, "%s differs by %.2g; required: at most %.2g", what, found, most);
  return text;
}

Json compareInference(const MeasurementTask &task, int rounds, const std::string &folder) {
  std::vector<float> want = readFloats(referenceFilePath(task, folder, "output"));
  PreparedNetwork prepared = prepareNetwork(task, Initialization::Lively);
  Model model = compileInferenceModel(task, prepared);
  double compiled = model.prepare();
  std::unique_ptr<ProgramBench> bench = benchOf(model, prepared, task, folder);
  Json result = {{"compile_s", compiled},
                 {"commands", countCommandKinds(bench->session().commands())}};
  Tolerances tolerances = getTolerances(task.precision);
  // Three runs are compared: the first launches the commands one by one, the second is captured as
  // a GPU graph, the third launches the graph.
  std::vector<char> first;
  int differ = 0;
  for (int i = 0; i < 3; ++i) {
    std::vector<char> got = bench->runSpoiled().at(0);
    if (got.size() != want.size() * sizeof(float))
      throw Error("the result has " + std::to_string(got.size()) + " bytes, the processor's " +
                  std::to_string(want.size() * sizeof(float)));
    ArrayDifference difference =
        computeDifference(reinterpret_cast<const float *>(got.data()), want.data(), want.size());
    if (i == 0) {
      first = got;
      result["output"] = jsonOf(difference);
    }
    differ += got != first;
    std::string name = "the output of run " + std::to_string(i);
    setVerdict(result, difference.bad
                           ? name + " has " + std::to_string(difference.bad) +
                                 " elements that are not finite"
                           : describeExcess(name.c_str(), difference.norm, tolerances.output));
    if (!result["ok"])
      break;
  }
  result["runs_that_differ"] = differ;
  result["graph_launches"] = bench->session().graphLaunches();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    double start = now();
    bench->run();
    times.push_back((now() - start) * 1e3);
  }
  result["run_ms"] = median(times);
  return result;
}

Json compareTraining(const MeasurementTask &task, int steps, const std::string &folder) {
  std::vector<float> losses = readFloats(referenceFilePath(task, folder, "losses")),
                     parameters = readFloats(referenceFilePath(task, folder, "parameters"));
  TrainingResult got = runTraining(task, steps);
  Json result = {{"compile_s", got.compileSeconds}, {"run_ms", got.stepMs}};
  double apart = 0;
  for (int i = 0; i < steps; ++i) {
    double d = std::abs(double(got.losses[size_t(i)]) - losses.at(size_t(i))) / std::abs(losses[0]);
    apart = d <= apart ? apart : d;
  }
  result["loss"] = apart;
  result["losses"] = got.losses;
  result["wanted"] = losses;
  // Compares the parameters' updates in the first training step instead of the parameters
  // themselves.
  for (size_t i = 0; i < got.before.size(); ++i) {
    got.parameters[i] -= got.before[i];
    parameters.at(i) -= got.before[i];
  }
  ArrayDifference update =
      computeDifference(got.parameters.data(), parameters.data(), parameters.size());
  result["update"] = jsonOf(update);
  Tolerances tolerances = getTolerances(task.precision);
  setVerdict(result, describeExcess("the loss", apart, tolerances.loss));
  setVerdict(result, describeExcess("the update", update.norm, tolerances.update));
  if (update.bad)
    setVerdict(result, std::to_string(update.bad) + " parameters are not finite");
  return result;
}

} // namespace

Json computeReference(const MeasurementTask &given, int steps, const std::string &folder) {
  MeasurementTask task = given;
  task.device = "cpu";
  task.precision = "f32";
  double start = now();
  if (task.trains()) {
    TrainingResult result = runTraining(task, steps);
    writeFloats(referenceFilePath(task, folder, "parameters"), result.parameters);
    writeFloats(referenceFilePath(task, folder, "losses"), result.losses);
    return {{"seconds", now() - start}, {"losses", result.losses}, {"run_ms", result.stepMs}};
  }
  PreparedNetwork prepared = prepareNetwork(task, Initialization::Lively);
  Model model = compileInferenceModel(task, prepared);
  Tensor y = model.run({{prepared.inputs[0].name, prepared.batch[0]}}).at("y").to(DType::F32);
  writeFloats(referenceFilePath(task, folder, "output"),
              std::vector<float>(y.data<float>(), y.data<float>() + y.elements()));
  return {{"seconds", now() - start}};
}

Json compareWithReference(const MeasurementTask &task, int steps, int rounds,
                          const std::string &folder) {
  return task.trains() ? compareTraining(task, steps, folder)
                       : compareInference(task, rounds, folder);
}

} // namespace dlc::gpu

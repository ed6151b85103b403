//===- Networks.cpp - list of networks, and comparison of their results with the CPU's --------===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>

namespace dlc::gpu {

std::vector<Network> selectNetworks(const Settings &settings) {
  if (settings.small)
    return {{"alexnet-r", 2}, {"fcn-r", 2, false}};
  return {{"resnet-50", 64},  {"bert", 32},   {"lstm", 128},      {"vit", 32},
          {"alexnet-s", 128}, {"fcn-s", 64},  {"resnet-56", 128}, {"mobilenet-v2", 64, false},
          {"alexnet-r", 128}, {"fcn-r", 1024}};
}

std::vector<std::string> selectPrecisions(const Settings &settings, const Network &network) {
  if (!settings.small)
    return {"f32", "tf32", "bf16"};
  // The short form skips bf16 for fcn-r, because an emulated GPU takes half a minute for its large
  // 16-bit matmuls.
  if (network.name == "fcn-r")
    return {"f32"};
  return {"f32", "bf16"};
}

std::vector<MeasuredConfig> configsOf(const Settings &settings,
                                      const std::vector<std::string> &precisions) {
  std::vector<MeasuredConfig> configs;
  for (const std::string &precision : precisions)
    for (const char *mode : {"training", "inference"})
      for (const Network &network : selectNetworks(settings))
        if (network.trains || mode == std::string("inference"))
          configs.push_back({network, mode, precision});
  return configs;
}

std::map<std::string, std::string> disableLibrariesEnvironment() {
  return {{"DLC_CUDA_CUBLASLT", "/none"}, {"DLC_CUDA_CUDNN", "/none"}};
}

bool hasLibraries() {
  auto isThere = [](const char *name) {
    std::string path = getEnvironment(name);
    return !path.empty() && path != "/none";
  };
  return isThere("DLC_CUDA_CUBLASLT") || isThere("DLC_CUDA_CUDNN");
}

namespace {

class NetworkComparison {
public:
  explicit NetworkComparison(const Settings &settings)
      : settings(settings), store(settings, "networks.json"),
        atOnce(settings.small ? 2 : std::clamp(countAvailableCpus() / 4, 1, 6)),
        pool(atOnce, settings.deadline - 5, settings.folder()) {}

  void run() {
    store["what"] =
        "inference and training of the benchmark networks on the device, compared with the CPU in "
        "f32; 'again': result with generated kernels only, and without graphs";
    for (const Network &network : selectNetworks(settings))
      for (const char *mode : {"inference", "training"})
        if ((network.trains || mode == std::string("inference")) && isWanted(network, mode))
          pool.add(job("reference", {network, mode, ""}, settings.small ? 60 : 150));
    pool.run([&](const Job &job, const JobOutcome &outcome) { take(job, outcome); });
    store.finish("cases", pool.left() + waiting.size());
  }

private:
  /// Creates a measurement job with the key "WHAT CONFIG", from which take() recovers both parts.
  Job job(const std::string &what, const MeasuredConfig &config, double limit) {
    Job job;
    job.key = what + " " + config.key();
    job.command = {settings.program("dlc-gpu-work"), what == "reference" ? what : "compare"};
    std::vector<std::string> arguments = config.arguments();
    if (what == "reference")
      arguments.resize(arguments.size() - 2);
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.command.insert(job.command.end(),
                       {"--folder", settings.folder(), "--steps", settings.small ? "2" : "3"});
    if (what != "reference")
      job.command.insert(job.command.end(), {"--device", settings.device});
    job.shares = true;
    if (what == "generated")
      job.environment.merge(disableLibrariesEnvironment());
    if (what == "plain")
      job.environment["DLC_PLAIN_LAUNCHES"] = "1";
    job.limit = limit;
    configs[job.key] = config;
    return job;
  }

  bool isWanted(const Network &network, const char *mode) {
    for (const std::string &precision : selectPrecisions(settings, network))
      if (settings.again || !store.has("cases", MeasuredConfig{network, mode, precision}.key()))
        return true;
    return false;
  }

  void take(const Job &done, const JobOutcome &outcome) {
    std::string what = done.key.substr(0, done.key.find(' '));
    MeasuredConfig config = configs[done.key];
    if (what == "reference") {
      store.put("processor", config.network.name + "/" + config.mode, jsonOf(outcome));
      for (const std::string &precision : selectPrecisions(settings, config.network)) {
        MeasuredConfig next{config.network, config.mode, precision};
        if (!settings.again && store.has("cases", next.key()))
          continue;
        Job compare = job("compare", next, settings.small ? 60 : 120);
        // The job is queued first, so that networks are completed one by one.
        compare.last = false;
        if (outcome.good())
          pool.add(compare);
        else
          waiting.push_back(next.key());
      }
      return;
    }
    if (what == "compare") {
      Json json = jsonOf(outcome);
      store.put("cases", config.key(), json);
      if (json["status"] == "ok" || asked++ >= (settings.small ? 0 : 8))
        return;
      // After a failed comparison, repeats it with generated kernels only and without GPU graphs,
      // to narrow down the cause.
      if (hasLibraries())
        pool.add(job("generated", config, 90));
      pool.add(job("plain", config, 90));
      return;
    }
    Json json = store.whole().at("cases").at(config.key());
    json["again"][what] = jsonOf(outcome, 300);
    store.put("cases", config.key(), json);
  }

  const Settings &settings;
  ResultStore store;
  int atOnce, asked = 0;
  ProcessPool pool;
  std::map<std::string, MeasuredConfig> configs;
  std::vector<std::string> waiting;
};

} // namespace

void runNetworksStep(const Settings &settings) { NetworkComparison(settings).run(); }

} // namespace dlc::gpu

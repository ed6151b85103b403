//===- Steps.h - the steps of the kit -------------------------------------===//
#ifndef DLC_TOOLS_GPU_STEPS_H
#define DLC_TOOLS_GPU_STEPS_H

#include "tools/gpu/steps/Store.h"

namespace dlc::gpu {

/// A network and the batch size with which it is measured.
struct Network {
  std::string name;
  int batch;
  bool trains = true;
};
/// Ordered by decreasing importance.
std::vector<Network> networksOf(const Settings &settings);
std::vector<std::string> precisionsOf(const Settings &settings, const Network &network);

/// One network in one mode and precision.
struct Config {
  Network network;
  std::string mode, precision;
  std::string key() const { return network.name + "/" + mode + "/" + precision; }
  /// Command-line arguments that select the network and configuration.
  std::vector<std::string> arguments() const {
    return {network.name,  "--mode", mode, "--batch", std::to_string(network.batch),
            "--precision", precision};
  }
};
/// Returns the configurations in the given precisions, ordered by decreasing importance.
std::vector<Config> configsOf(const Settings &settings, const std::vector<std::string> &precisions);

/// Environment variables with which all programs of dlc use only generated kernels.
std::map<std::string, std::string> withoutLibraries();
bool hasLibraries();

/// Cache folder with the tuning database of the step `tune`.
std::string tunedCache(const Settings &settings);

void machineStep(const Settings &settings);
void conformanceStep(const Settings &settings);
void networksStep(const Settings &settings);
void tuneStep(const Settings &settings);
void torchStep(const Settings &settings);
void librariesStep(const Settings &settings);
void sanitizerStep(const Settings &settings);

/// Returns a summary of all result files.
std::string summaryOf(const Settings &settings);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_H

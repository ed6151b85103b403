//===- Steps.h - the steps of the kit -------------------------------------===//
#ifndef DLC_TOOLS_GPU_STEPS_H
#define DLC_TOOLS_GPU_STEPS_H

#include "tools/gpu/steps/Store.h"

namespace dlc::gpu {

/// A benchmark network and the batch size with which it is measured.
struct Network {
  std::string name;
  int batch;
  bool trains = true;
};
/// Returns the networks to measure, ordered by decreasing importance.
std::vector<Network> selectNetworks(const Settings &settings);
std::vector<std::string> selectPrecisions(const Settings &settings, const Network &network);

/// One measured configuration: a network, a mode (inference or training) and a precision.
struct MeasuredConfig {
  Network network;
  std::string mode, precision;
  std::string key() const { return network.name + "/" + mode + "/" + precision; }
  /// Returns the command-line arguments that select the network, mode, batch size and precision.
  std::vector<std::string> arguments() const {
    return {network.name,  "--mode", mode, "--batch", std::to_string(network.batch),
            "--precision", precision};
  }
};
/// Returns the configurations of all networks in the given precisions, ordered by decreasing
/// importance.
std::vector<MeasuredConfig> configsOf(const Settings &settings,
                                      const std::vector<std::string> &precisions);

/// Returns environment variables with which dlc uses only generated kernels, no libraries.
std::map<std::string, std::string> disableLibrariesEnvironment();
bool hasLibraries();

/// Returns the cache folder with the tuning database of the step `tune`.
std::string tunedCache(const Settings &settings);

void runMachineStep(const Settings &settings);
void runConformanceStep(const Settings &settings);
void runNetworksStep(const Settings &settings);
void runTuneStep(const Settings &settings);
void runTorchStep(const Settings &settings);
void runLibrariesStep(const Settings &settings);
void runSanitizerStep(const Settings &settings);

/// Returns a summary of all result files as text.
std::string makeSummary(const Settings &settings);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_H

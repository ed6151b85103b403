//===- Steps.h - what the kit does, step by step --------------------------===//
#ifndef DLC_TOOLS_GPU_STEPS_H
#define DLC_TOOLS_GPU_STEPS_H

#include "tools/gpu/steps/Store.h"

namespace dlc::gpu {

/// A network in the shapes that are measured.
struct Network {
  std::string name;
  int batch;
  bool trains = true;
};
/// Those that matter most come first.
std::vector<Network> networksOf(const Settings &settings);
std::vector<std::string> precisionsOf(const Settings &settings, const Network &network);

/// One network in one mode and precision.
struct Config {
  Network network;
  std::string mode, precision;
  std::string key() const { return network.name + "/" + mode + "/" + precision; }
  /// The words behind the command that name it.
  std::vector<std::string> arguments() const {
    return {network.name,  "--mode", mode, "--batch", std::to_string(network.batch),
            "--precision", precision};
  }
};
/// Of the precisions given, the most worthwhile first.
std::vector<Config> configsOf(const Settings &settings, const std::vector<std::string> &precisions);

/// What has every program of dlc work with generated kernels alone.
std::map<std::string, std::string> withoutLibraries();
bool hasLibraries();

/// The cache folder with the database of what step `tune` measured.
std::string tunedCache(const Settings &settings);

void machineStep(const Settings &settings);
void conformanceStep(const Settings &settings);
void networksStep(const Settings &settings);
void tuneStep(const Settings &settings);
void torchStep(const Settings &settings);
void librariesStep(const Settings &settings);
void sanitizerStep(const Settings &settings);

/// What a reader must know first, of all files that are there.
std::string summaryOf(const Settings &settings);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_H

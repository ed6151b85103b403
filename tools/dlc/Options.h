//===- Options.h - what the commands are asked to do -------------------------------===//
#ifndef DLC_TOOLS_DLC_OPTIONS_H
#define DLC_TOOLS_DLC_OPTIONS_H

#include "codegen/Pipeline.h"
#include "tools/compiler/Source.h"
#include "tools/compiler/Training.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::cli {

/// Of all commands that may compile.
struct ModelArguments {
  std::string model;
  std::vector<std::string> shapes, inputs;
  std::string device = "cpu", forbidTransfers;
  std::vector<std::string> place;
  int threads = 0;
  bool tune = false;
  std::string kernels, cache, gpuArch;
  std::string precision = "none", matmulPrecision = "highest", accuracy = "default", maxMemory;
  std::vector<std::string> precisionOf;
  uint64_t seed = 0;
};

struct CompileArguments : ModelArguments {
  std::string output, from, to;
  std::vector<std::string> printAfter;
  bool time = false;
  bool train = false;
  TrainingOptions training;
  int64_t batch = 0;
};

struct TrainArguments {
  std::string program, data, init, checkpoint, svg;
  int64_t epochs = 1, steps = 0;
  bool noShuffle = false, resume = false, json = false;
  uint64_t seed = 0;
  int64_t checkpointEvery = 0, logEvery = 0;
  int workers = 1, threads = 0;
};

struct RunArguments : ModelArguments {
  std::string outputDir, trace;
  int repeat = 1;
  bool json = false, plainLaunches = false;
};

struct InspectArguments : ModelArguments {
  int repeat = 0;
  bool json = false, placement = false;
  std::string svg, html;
};

int compileCommand(const CompileArguments &arguments);
int runCommand(const RunArguments &arguments);
int inspectCommand(const InspectArguments &arguments);
int trainCommand(const TrainArguments &arguments);
/// Devices, and the libraries that they are run with.
int devicesCommand();

/// "x=1x3x224x224" each. Throws dlc::Error.
Shapes parseShapes(const std::vector<std::string> &texts);
/// "x=file.npy" each: the arrays, read.
Values readInputs(const std::vector<std::string> &texts);
/// "64MiB", "1.5GiB" or a number of bytes. Throws dlc::Error.
int64_t parseBytes(const std::string &text, const char *option);
/// The shapes given and those of the arrays; both for one input must agree.
Shapes shapesOf(const ModelArguments &arguments, const Values &values);
CompileOptions compileOptionsOf(const ModelArguments &arguments);
Phase parsePhase(const std::string &name);

/// The most memory that this process has held, in MiB.
double peakMib();
/// "12.3 MiB", "1.2 GFLOP": three digits and a unit.
std::string bytesText(double bytes);
std::string flopsText(double flops);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_OPTIONS_H

//===- Options.h - arguments of the dlc commands --------------------------===//
#ifndef DLC_TOOLS_DLC_OPTIONS_H
#define DLC_TOOLS_DLC_OPTIONS_H

#include "codegen/Pipeline.h"
#include "tools/compiler/Source.h"
#include "tools/compiler/Training.h"
#include "tools/quantize/Quantize.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlc::cli {

/// Arguments of all commands that may compile a model.
struct ModelArguments {
  std::string model;
  std::vector<std::string> shapes, inputs;
  CompileOptions options{ModelOptions()};
  uint64_t seed = 0;
};

struct CompileArguments : ModelArguments {
  std::string output, from, to, init;
  std::vector<std::string> printAfter;
  bool time = false;
  bool train = false;
  TrainingOptions training;
  int64_t batch = 0;
};

struct TuneArguments : CompileArguments {
  TuneArguments();
  std::string explain;
  bool machine = false;    ///< measure the profile of this machine instead of tuning a model
  std::string profileFile; ///< output file of the profile; if empty, in the cache folder
};

struct TuneDbArguments {
  /// Action of tune-db, database that it shows or writes, and pattern of the operations to show.
  std::string action, output, pattern;
  std::vector<std::string> files; ///< databases that are merged or compared
};

struct TrainArguments {
  std::string program, data, init, checkpoint, svg, trace;
  int64_t epochs = 1, steps = 0;
  bool noShuffle = false, resume = false, overwrite = false, json = false;
  uint64_t seed = 0;
  std::optional<float> lr;
  int64_t checkpointEvery = 0, logEvery = 0;
  int workers = 1, threads = 0;
};

struct QuantizeArguments {
  quantize::Options options;
  /// Path of an .npz file with calibration data. If it is empty, only weights are quantized.
  std::string data;
  /// True if the option --weights was specified (`saysWeights`).
  bool saysWeights = false, json = false;
};

struct RunArguments : ModelArguments {
  std::string outputDir, trace;
  int repeat = 1;
  bool json = false, plainLaunches = false;
};

struct GenerateArguments {
  /// Path of the model, and file that the logits of the answer are written to (optional).
  std::string model, logits;
  /// Token ids of the prompt, such as "1,2,3".
  std::string ids;
  CompileOptions options{ModelOptions()};
  int64_t maxTokens = 128, context = 0, promptStep = 32;
  bool ignoreEnd = false;
};

struct InspectArguments : ModelArguments {
  int repeat = 0;
  bool json = false, placement = false, layouts = false;
  std::string svg, html, trace;
  /// Latency and bandwidth of the links between ranks of one machine (`link`) and between ranks of
  /// different machines (`between`), such as "20us,10GB/s".
  std::string link, between;
  std::vector<int> ranks; ///< world sizes for which the time of a step is predicted
  int ranksPerMachine = 0;
};

int compileCommand(const CompileArguments &arguments);
int runCommand(const RunArguments &arguments);
int inspectCommand(const InspectArguments &arguments);
int generateCommand(const GenerateArguments &arguments);
int trainCommand(const TrainArguments &arguments);
int quantizeCommand(const QuantizeArguments &arguments);
/// Command `dlc tune`: measures the candidate kernels of a model's operations and stores the
/// results in a database.
int tuneCommand(const TuneArguments &arguments);
int tuneDbCommand(const TuneDbArguments &arguments);
/// Injects faults into a candidate kernel, for tests of the tuner's checks: wrong results
/// (DLC_TEST_SPOIL), or a signal, given as PATTERN:STAGE:SIGNAL (DLC_TEST_CRASH).
void spoilAsAsked(TuningOptions &tuning);
/// Command `dlc devices`: lists the devices and the libraries found for them.
int devicesCommand();

/// Parses input shapes such as "x=1x3x224x224". Throws dlc::Error.
Shapes parseShapes(const std::vector<std::string> &texts);
/// Reads the .npy files of arguments such as "x=file.npy", and packs the elements if the input has
/// a 4-bit integer type.
Values readInputs(const std::vector<std::string> &texts, const Source &source);
/// Returns the input shapes from the arguments and from the arrays. Throws dlc::Error if they
/// differ for an input.
Shapes getInputShapes(const ModelArguments &arguments, const Values &values);
/// A compiled model or training step. The sources own the MLIR context of the module.
struct CompiledModel {
  std::unique_ptr<Source> source;
  TrainingStep step;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Compiled program, or null if the options stop at a phase before program creation.
  std::shared_ptr<runtime::Program> program;
};
/// Compiles the model, or its training step if --train is specified. The program's manifest
/// describes the training step.
CompiledModel compileFromArguments(const CompileArguments &arguments,
                                   const CompileOptions &options);
Phase parsePhase(const std::string &name);

/// Returns the peak memory use of this process in MiB.
double peakMib();
/// Formats a number of bytes with three digits and a unit, such as "12.3 MiB"; flopsText() formats
/// operations, such as "1.2 GFLOP".
std::string bytesText(double bytes);
std::string flopsText(double flops);
/// Returns the last `most` characters of a long name, because they usually distinguish names better
/// than the first characters.
std::string truncateStart(const std::string &text, size_t most);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_OPTIONS_H

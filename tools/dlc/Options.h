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

/// Arguments of all commands that may compile.
struct ModelArguments {
  std::string model;
  std::vector<std::string> shapes, inputs;
  CompileOptions options{ModelOptions()};
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

struct TuneArguments : CompileArguments {
  TuneArguments();
  std::string explain;
  bool machine = false;    ///< calibrate the machine instead of tuning a model
  std::string profileFile; ///< output file of the machine profile; empty: in the cache folder
};

struct TuneDbArguments {
  std::string action, output, pattern; ///< the database that is shown or written
  std::vector<std::string> files;      ///< the databases that are merged or compared
};

struct TrainArguments {
  std::string program, data, init, checkpoint, svg, trace;
  int64_t epochs = 1, steps = 0;
  bool noShuffle = false, resume = false, json = false;
  uint64_t seed = 0;
  std::optional<float> lr;
  int64_t checkpointEvery = 0, logEvery = 0;
  int workers = 1, threads = 0;
};

struct QuantizeArguments {
  quantize::Options options;
  std::string data; ///< path of an .npz file; empty: only weights are quantized
  /// `saysWeights`: --weights was specified.
  bool saysWeights = false, json = false;
};

struct RunArguments : ModelArguments {
  std::string outputDir, trace;
  int repeat = 1;
  bool json = false, plainLaunches = false;
};

struct InspectArguments : ModelArguments {
  int repeat = 0;
  bool json = false, placement = false, layouts = false;
  std::string svg, html, trace;
  /// Links between ranks of one machine, and between ranks of different machines, such as
  /// "20us,10GB/s".
  std::string link, between;
  std::vector<int> ranks; ///< numbers of ranks to predict
  int ranksPerMachine = 0;
};

int compileCommand(const CompileArguments &arguments);
int runCommand(const RunArguments &arguments);
int inspectCommand(const InspectArguments &arguments);
int trainCommand(const TrainArguments &arguments);
int quantizeCommand(const QuantizeArguments &arguments);
/// Measures the candidate kernels of a model's operations and stores the results in a database.
int tuneCommand(const TuneArguments &arguments);
int tuneDbCommand(const TuneDbArguments &arguments);
/// Injects faults into a candidate, for tests of the tuner's checks: wrong results
/// (DLC_TEST_SPOIL), or a signal, as PATTERN:STAGE:SIGNAL (DLC_TEST_CRASH).
void spoilAsAsked(TuningOptions &tuning);
/// Lists the devices and the libraries found for them.
int devicesCommand();

/// Parses texts such as "x=1x3x224x224". Throws dlc::Error.
Shapes parseShapes(const std::vector<std::string> &texts);
/// Reads the arrays of texts such as "x=file.npy", and packs them if the input has a 4-bit integer
/// type.
Values readInputs(const std::vector<std::string> &texts, const Source &source);
/// Merges the given shapes with those of the arrays. Throws dlc::Error if they differ for an input.
Shapes shapesOf(const ModelArguments &arguments, const Values &values);
/// A compiled model. The sources own the context of the module.
struct Compiled {
  std::unique_ptr<Source> source;
  TrainingStep step;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Null if the options stop at a phase before program creation.
  std::shared_ptr<runtime::Program> program;
};
/// Compiles the model, or its training step, which is described in the program's manifest.
Compiled compileGiven(const CompileArguments &arguments, const CompileOptions &options);
Phase parsePhase(const std::string &name);

/// Peak memory use of this process in MiB.
double peakMib();
/// Format a quantity with three digits and a unit, such as "12.3 MiB" or "1.2 GFLOP".
std::string bytesText(double bytes);
std::string flopsText(double flops);
/// Returns the last `most` characters of a long name, because they distinguish names better than
/// the first.
std::string endOf(const std::string &text, size_t most);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_OPTIONS_H

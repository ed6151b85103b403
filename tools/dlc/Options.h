//===- Options.h - what the commands are asked to do -------------------------------===//
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

/// Of all commands that may compile.
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
  bool machine = false;    ///< measure the machine, not a model
  std::string profileFile; ///< where its profile goes; empty: into the cache
};

struct TuneDbArguments {
  std::string action, output, pattern; ///< the file shown or filled
  std::vector<std::string> files;      ///< those taken from or compared
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
  std::string data; ///< an .npz; empty: weights alone are quantised
  /// --weights was given.
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
  /// Between ranks, and between those of different machines: "20us,10GB/s".
  std::string link, between;
  std::vector<int> ranks; ///< of worlds to predict
  int ranksPerMachine = 0;
};

int compileCommand(const CompileArguments &arguments);
int runCommand(const RunArguments &arguments);
int inspectCommand(const InspectArguments &arguments);
int trainCommand(const TrainArguments &arguments);
int quantizeCommand(const QuantizeArguments &arguments);
/// Measures the kernels that could do a model's operations, into a database.
int tuneCommand(const TuneArguments &arguments);
int tuneDbCommand(const TuneDbArguments &arguments);
/// Faults of one candidate, for the tests that such are found: in its results, or
/// PATTERN:STAGE:SIGNAL.
void spoilAsAsked(TuningOptions &tuning);
/// Devices, and the libraries that they are run with.
int devicesCommand();

/// "x=1x3x224x224" each. Throws dlc::Error.
Shapes parseShapes(const std::vector<std::string> &texts);
/// "x=file.npy" each: the arrays, read, and packed if the input has 4-bit integers.
Values readInputs(const std::vector<std::string> &texts, const Source &source);
/// The shapes given and those of the arrays; both for one input must agree.
Shapes shapesOf(const ModelArguments &arguments, const Values &values);
/// What came of a model; the sources hold the context that the module lives in.
struct Compiled {
  std::unique_ptr<Source> source;
  TrainingStep step;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Null when the options stop before a program.
  std::shared_ptr<runtime::Program> program;
};
/// Compiles the model, or its training step, which the program's manifest then tells about.
Compiled compileGiven(const CompileArguments &arguments, const CompileOptions &options);
Phase parsePhase(const std::string &name);

/// The most memory that this process has held, in MiB.
double peakMib();
/// "12.3 MiB", "1.2 GFLOP": three digits and a unit.
std::string bytesText(double bytes);
std::string flopsText(double flops);
/// The end of a long name says more than its beginning.
std::string endOf(const std::string &text, size_t most);

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_OPTIONS_H

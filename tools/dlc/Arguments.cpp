//===- Arguments.cpp - command-line options of the dlc tool ---------------===//
#include "tools/dlc/Options.h"

#include "dlc/dlc.h"
#include "frontend/table/FrontEnds.h"
#include "tools/Flags.h"
#include "tools/dlc/Usage.h"

#include <cstdio>

using namespace dlc::cli;

namespace {

void addModelArguments(CLI::App *command, ModelArguments &a, bool required = true) {
  command
      ->add_option("model", a.model,
                   "model file (" + dlc::formatExtensions() +
                       "; an .mlir file has operations of dlc or StableHLO) or compiled program "
                       "(.dlcx)")
      ->required(required);
  command->add_option("--shape", a.shapes, "shape of an input: NAME=1x3x224x224")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--input", a.inputs, "value of an input: NAME=FILE.npy")
      ->take_all()
      ->allow_extra_args(false);
  dlc::addSettingFlags(*command, getModelSettings(a.options));
}

void addTrainingArguments(CLI::App *command, CompileArguments &a) {
  dlc::TrainingOptions &t = a.training;
  CLI::Option *train = command->add_flag(
      "--train", a.train,
      "compile a training step of the model: forward pass, loss, gradients and optimizer");
  auto number = [&](const char *name, auto &to, const char *what) {
    return command->add_option(name, to, what)->needs(train)->group("Training");
  };
  number("--loss", t.loss, "loss function of the model's first output and the new input 'target'")
      ->check(oneOf(dlc::trainingLosses()))
      ->capture_default_str();
  number("--optimizer", t.optimizer, "optimizer that updates the parameters")
      ->check(oneOf(dlc::trainingOptimizers()))
      ->capture_default_str();
  auto real = [&](const char *name, auto &to, const char *what) {
    return number(name, to, what)->check(finite());
  };
  real("--lr", t.lr, "learning rate; default: that of the optimizer");
  real("--momentum", t.momentum, "momentum of sgd and rmsprop");
  real("--dampening", t.dampening, "dampening of sgd's momentum");
  command->add_flag("--nesterov", t.nesterov, "use Nesterov momentum in sgd")
      ->needs(train)
      ->group("Training");
  real("--weight-decay", t.weightDecay, "weight decay coefficient");
  real("--beta1", t.beta1, "decay rate of the first moment of adam and adamw");
  real("--beta2", t.beta2, "decay rate of the second moment of adam and adamw");
  real("--alpha", t.alpha, "decay rate of the squared gradients of rmsprop");
  real("--eps", t.eps, "term added to the optimizer's divisors for numerical stability");
  real("--clip-norm", t.clipNorm, "clip gradients to this global norm; 0: no clipping");
  real("--clip-value", t.clipValue,
       "clip each gradient element to [-VALUE, VALUE]; 0: no clipping");
  number("--label-smoothing", t.labelSmoothing,
         "label smoothing: share of the target probability that is spread over all classes")
      ->check(between(0.0, 1.0));
  number("--ignore-index", t.ignoreIndex, "target class that is ignored by the loss");
  number("--micro-batches", t.microBatches,
         "split each batch into this many parts and average their gradients, to save memory")
      ->check(atLeastOne());
  command
      ->add_flag(
          "--data-parallel", t.dataParallel,
          "give each process its own batch, and average gradients and loss over all processes")
      ->needs(train)
      ->group("Training");
  CLI::Option *parallel = command->get_option("--data-parallel");
  command
      ->add_flag("--sync-batch-norm", t.syncBatchNorm,
                 "compute batch norm statistics over the batches of all processes")
      ->needs(parallel)
      ->group("Training");
  CLI::Option *world = command->get_option("--world");
  command
      ->add_flag("--shard-optimizer", t.shardOptimizer,
                 "split the optimizer state over the processes; each process updates its share of "
                 "the parameters")
      ->needs(world)
      ->needs(parallel)
      ->group("Training");
  number("--gradients", t.gradients,
         "element type of the gradients that processes exchange; bf16 halves the bytes and has 8 "
         "significant bits")
      ->check(oneOf({"f32", "bf16"}))
      ->capture_default_str()
      ->needs(parallel);
  number("--reproducible-reductions", t.chunks,
         "split the global batch into this many chunks and add their gradients in a fixed order, "
         "so that results have the same bits for any number of processes")
      ->check(atLeastOne())
      ->needs(world)
      ->needs(parallel);
  number("--freeze", t.freeze,
         "do not train parameters whose names match (*: any characters, ?: one character)")
      ->take_all()
      ->allow_extra_args(false);
  real("--loss-scale", t.lossScale,
       "initial factor of dynamic loss scaling, for --precision f16; steps with overflowing "
       "gradients are skipped");
  number("--dropout-seed", t.seed, "seed of dropout's random numbers");
}

void addTuneCommands(CLI::App &app, TuneArguments &a, TuneDbArguments &b) {
  CLI::App *c = app.add_subcommand(
      "tune",
      "measure candidate kernels on this machine and store the results in a tuning database");
  addModelArguments(c, a, /*required=*/false);
  CLI::Option *model = c->get_option("model");
  CLI::Option *machine = c->add_flag("--machine", a.machine,
                                     "measure this machine instead of a model, in a few seconds, "
                                     "and write a profile for the cost model")
                             ->excludes(model);
  c->add_option("-o,--output", a.profileFile,
                "profile that --machine writes; default: a file in the cache folder")
      ->needs(machine);
  c->get_option("--db")->description(
      "tuning database to extend; default: tuning.jsonl in the cache folder");
  dlc::TuningOptions &tuning = a.options.tuning;
  dlc::addSettingFlags(
      *c, {{"budget", "time limit for measuring, such as 60s", &tuning.budgetSeconds},
           {"spread", "minimum time between two measurement sessions of one operation; default: 2s",
            &tuning.spreadSeconds},
           {"again", "measure operations again that are in the database", &tuning.again}});
  c->add_option("--explain", a.explain,
                "show all candidates of the operations whose name matches (*: any characters) or "
                "whose key begins with this text");
  c->add_option("--batch", a.batch,
                "size of the first dimension of inputs, where that dimension is dynamic")
      ->check(atLeastOne());
  addTrainingArguments(c, a);

  CLI::App *db = app.add_subcommand("tune-db", "show, merge and compare tuning databases");
  db->require_subcommand(1);
  auto action = [&](const char *name, const char *what) {
    CLI::App *command = db->add_subcommand(name, what);
    command->callback([&b, name] { b.action = name; });
    return command;
  };
  CLI::App *show = action("show", "print the operations in a database");
  show->add_option("file", b.output, "tuning database")->required();
  show->add_option("pattern", b.pattern,
                   "print only operations whose name matches or whose key begins with this text");
  CLI::App *merge = action("merge", "merge databases into one");
  merge->add_option("output", b.output, "database to extend, or to create if it does not exist")
      ->required();
  merge->add_option("files", b.files, "databases to read")->required();
  CLI::App *diff =
      action("diff", "compare the kernels chosen by two databases; exit status 1 if they differ");
  diff->add_option("files", b.files, "two databases to compare")->required()->expected(2);
}

void addInspectCommand(CLI::App &app, InspectArguments &a) {
  CLI::App *c = app.add_subcommand(
      "inspect", "show the commands of a program, their kernels, memory and time");
  addModelArguments(c, a);
  CLI::Option *repeat =
      c->add_option("--repeat", a.repeat,
                    "run the program this many times and show the time of each command")
          ->capture_default_str();
  c->add_option("--seed", a.seed, "seed of random input values")->capture_default_str();
  c->add_flag("--json", a.json, "print one JSON object");
  c->add_flag(
      "--placement", a.placement,
      "show the device of each operation with the reason, and the transfers between devices");
  c->add_flag("--layouts", a.layouts,
              "show the layout of each convolution, and the estimated costs of all layouts");
  c->add_option("--svg", a.svg, "write a drawing of the graph, coloured by kernel and time");
  c->add_option("--html", a.html, "write the drawing and a table of commands as an HTML page");
  c->add_option("--trace", a.trace,
                "write a timeline of the fastest run of --repeat, for ui.perfetto.dev")
      ->needs(repeat);
  c->add_option(
      "--link", a.link,
      "latency and bandwidth of the link between ranks, such as 20us,10GB/s: --repeat simulates "
      "the time of collectives; default: measured by the processes that mpirun started");
  c->add_option("--ranks", a.ranks,
                "predict the time of a step for these numbers of ranks, such as 2,4,1024")
      ->delimiter(',')
      ->check(between(1, 1 << 20));
  CLI::Option *machine =
      c->add_option("--ranks-per-machine", a.ranksPerMachine,
                    "number of ranks on each machine, for --ranks; default: all on one machine")
          ->check(atLeastOne());
  c->add_option("--link-between", a.between,
                "latency and bandwidth of the link between machines, for --ranks")
      ->needs(machine);
}

void addTrainCommand(CLI::App &app, TrainArguments &a) {
  CLI::App *c = app.add_subcommand("train", "run a training step on a data set");
  c->add_option("program", a.program, "training step, compiled by dlc compile --train (.dlcx)")
      ->required();
  c->add_option("--data", a.data, ".npz file with one array for each input of the step")
      ->required();
  CLI::Option *epochs =
      c->add_option("--epochs", a.epochs, "total number of epochs, including those before --resume")
          ->check(atLeastOne())
          ->capture_default_str();
  c->add_option("--steps", a.steps, "total number of steps, including those before --resume")
      ->check(atLeastOne())
      ->excludes(epochs);
  c->add_flag("--no-shuffle", a.noShuffle, "use the samples in the order of the file");
  c->add_option("--seed", a.seed, "seed of the order of the samples")->capture_default_str();
  c->add_option("--lr", a.lr, "learning rate, if it is an input of the step")
      ->check(withRequiredText(CLI::NonNegativeNumber, "a number of 0 or more"));
  c->add_option("--init", a.init, ".safetensors file with the initial parameters");
  CLI::Option *checkpoint =
      c->add_option("--checkpoint", a.checkpoint, ".safetensors file in which the state is saved");
  c->add_option("--checkpoint-every", a.checkpointEvery,
                "save a checkpoint after every N steps; default: at the end of each epoch")
      ->check(atLeastOne())
      ->needs(checkpoint);
  CLI::Option *resume =
      c->add_flag("--resume", a.resume, "continue from the checkpoint, if the file exists")
          ->needs(checkpoint);
  c->add_flag("--overwrite", a.overwrite, "replace the checkpoint, if the file exists")
      ->needs(checkpoint)
      ->excludes(resume);
  c->add_option(
       "--log-every", a.logEvery,
       "print a line after every N steps; default: after each epoch, with --json after each step")
      ->check(atLeastOne());
  c->add_flag("--json", a.json, "print each line as a JSON object");
  c->add_option("--svg", a.svg, "write a drawing of the loss of each step");
  c->add_option("--trace", a.trace,
                "write a timeline of the last steps of all ranks, for ui.perfetto.dev");
  c->add_option("--workers", a.workers, "number of threads that prepare batches in advance")
      ->check(between(0, 1024))
      ->capture_default_str();
  c->add_option("--threads", a.threads, "number of threads; 0: all that this process may use")
      ->check(between(0, 4096))
      ->capture_default_str();
}

void addQuantizeCommand(CLI::App &app, QuantizeArguments &a) {
  dlc::quantize::Options &o = a.options;
  CLI::App *c = app.add_subcommand(
      "quantize", "quantize an f32 ONNX model to 8 bits, or its weights to 4 bits");
  c->add_option("model", o.model, "f32 model (.onnx)")->required();
  c->add_option("-o,--output", o.output, "quantized ONNX model to write")->required();
  CLI::Option *data = c->add_option("--data", a.data,
                                    "calibration data: .npz file with one array for each input, "
                                    "samples along the first dimension");
  c->add_option_function<std::string>(
       "--weights",
       [&a](const std::string &text) {
         a.options.weights = text;
         a.saysWeights = true;
       },
       "type of weights: int8 with a scale per channel, or int4 with a scale per block and f32 "
       "activations; without --data activations remain in f32")
      ->check(oneOf({"int8", "int4"}))
      ->default_str(o.weights);
  c->add_option("--block", o.block, "number of weights in a block, for --weights int4")
      ->capture_default_str();
  c->add_option("--ranges", o.ranges.kind,
                "method by which the ranges of activations are derived from the data")
      ->check(oneOf(dlc::quantize::rangeRuleNames()))
      ->capture_default_str()
      ->needs(data);
  c->add_option("--percentile", o.ranges.percentile,
                "percentage of values within the range, at each end, for --ranges percentile")
      ->check(between(50.0, 100.0))
      ->capture_default_str();
  c->add_option("--keep", o.keep,
                "do not quantize layers whose name or operator type matches (*: any characters)")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option(
       "--least-snr", o.minSnr,
       "do not quantize layers whose signal-to-noise ratio over the data would be lower, in dB")
      ->capture_default_str();
  c->add_option("--threads", o.compile.threads,
                "number of threads; 0: all that this process may use")
      ->check(between(0, 4096))
      ->capture_default_str();
  c->add_flag("--json", a.json, "print the report as one JSON object");
}

CLI::App *addCompileCommand(CLI::App &app, CompileArguments &a) {
  CLI::App *c = app.add_subcommand("compile", "compile a model into a program");
  addModelArguments(c, a);
  c->add_option("-o,--output", a.output,
                "program to write (.dlcx), or MLIR text (.mlir) with --to, where - is the "
                "standard output; default for dir/model.onnx: model.dlcx in the current "
                "folder, model-step.dlcx with --train");
  c->add_option(
      "--from", a.from,
      "start at this phase; the model is MLIR text that --to wrote for the phase before it");
  c->add_option("--to", a.to, "stop after this phase and write the module as MLIR text");
  c->add_option("--print-after", a.printAfter,
                "print the module after a phase, or after each phase ('all')")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option("--init", a.init,
                ".safetensors file with tensors that replace weights of an ONNX model of the same "
                "names, such as a checkpoint of dlc train");
  c->add_flag("--time", a.time, "print the duration of each phase");

  c->add_option("--batch", a.batch,
                "size of the first dimension of inputs, where that dimension is dynamic")
      ->check(atLeastOne());
  addTrainingArguments(c, a);
  return c;
}

CLI::App *addRunCommand(CLI::App &app, RunArguments &a) {
  CLI::App *c = app.add_subcommand("run", "run a model or a program");
  addModelArguments(c, a);
  c->add_option("--output-dir", a.outputDir, "folder in which each output is written as NAME.npy");
  c->add_option("--repeat", a.repeat, "number of runs")->capture_default_str();
  c->add_option("--seed", a.seed, "seed of random input values")->capture_default_str();
  c->add_flag("--json", a.json, "print times and memory as one JSON object");
  c->add_flag("--plain-launches", a.plainLaunches,
              "submit GPU commands one by one instead of as CUDA graphs");
  dlc::addSettingFlags(
      *c, {{"tune-in-background",
            "start with the kernels that the cost model chooses, measure candidates "
            "between the runs for this long (such as 60s), and hot-swap faster kernels",
            &a.options.tuneInBackground}});
  c->add_option("--trace", a.trace, "write a timeline of the runs, for ui.perfetto.dev");
  return c;
}

void addGenerateCommand(CLI::App &app, GenerateArguments &a) {
  CLI::App *c =
      app.add_subcommand("generate", "continue a sequence of tokens with a language model");
  c->add_option("model", a.model, "GGUF file, or folder with config.json and .safetensors files")
      ->required();
  c->add_option("--ids", a.ids, "token ids of the prompt, such as 1,2,3")->required();
  c->add_option("--max-tokens", a.maxTokens, "maximum number of tokens of the answer; default: 128")
      ->check(atLeastOne());
  c->add_option("--context", a.context,
                "number of tokens of prompt and answer that the cache stores; default: the context "
                "length of the model, at most 4096")
      ->check(atLeastOne());
  c->add_option("--prompt-step", a.promptStep,
                "number of tokens of the prompt that a step computes; default: 32")
      ->check(between<int64_t>(1, 4096));
  c->add_flag("--ignore-end", a.ignoreEnd, "continue after tokens that end a text");
  c->add_option("--logits", a.logits,
                "write the logits of each token of the answer as an .npy file");
  dlc::addSettingFlags(*c, getModelSettings(a.options));
}

} // namespace

namespace dlc {
int dlcMain(int argc, char **argv);
}

int dlc::dlcMain(int argc, char **argv) {
  CLI::App app("dlc: a graph compiler for deep learning", "dlc");
  app.set_version_flag("--version", std::string("dlc ") + dlc_version());
  app.require_subcommand(1);

  CompileArguments compile;
  CLI::App *compileApp = addCompileCommand(app, compile);

  RunArguments run;
  CLI::App *runApp = addRunCommand(app, run);

  InspectArguments inspect;
  addInspectCommand(app, inspect);

  TrainArguments train;
  addTrainCommand(app, train);

  GenerateArguments generate;
  addGenerateCommand(app, generate);

  QuantizeArguments quantize;
  addQuantizeCommand(app, quantize);

  TuneArguments tune;
  TuneDbArguments tuneDb;
  addTuneCommands(app, tune, tuneDb);

  app.add_subcommand("devices", "list the devices, and the libraries found for them");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help or --version
      return app.exit(error);
    std::fprintf(stderr, "dlc: error: %s\n", usageError(app, error).c_str());
    return 2;
  }
  try {
    if (*compileApp)
      return compileCommand(compile);
    if (*runApp)
      return runCommand(run);
    if (app.got_subcommand("train"))
      return trainCommand(train);
    if (app.got_subcommand("generate"))
      return generateCommand(generate);
    if (app.got_subcommand("quantize"))
      return quantizeCommand(quantize);
    if (app.got_subcommand("tune"))
      return tuneCommand(tune);
    if (app.got_subcommand("tune-db"))
      return tuneDbCommand(tuneDb);
    if (app.got_subcommand("devices"))
      return devicesCommand();
    return inspectCommand(inspect);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "dlc: error: not enough memory\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc: error: %s\n", error.what());
  }
  return 1;
}

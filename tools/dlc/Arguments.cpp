//===- Arguments.cpp - command-line options of the dlc tool ---------------===//
#include "tools/dlc/Options.h"

#include "dlc/dlc.h"
#include "frontend/table/FrontEnds.h"
#include "tools/Flags.h"

#include <cstdio>

using namespace dlc::cli;

namespace {

void addModelArguments(CLI::App *command, ModelArguments &a, bool required = true) {
  command
      ->add_option("model", a.model,
                   "a model (" + dlc::extensionsText() + ") or a compiled program (.dlcx)")
      ->required(required);
  command->add_option("--shape", a.shapes, "the shape of an input: NAME=1x3x224x224")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--input", a.inputs, "the value of an input: NAME=FILE.npy")
      ->take_all()
      ->allow_extra_args(false);
  dlc::addFlags(*command, settingsOf(a.options));
}

void addTrainingArguments(CLI::App *command, CompileArguments &a) {
  dlc::TrainingOptions &t = a.training;
  CLI::Option *train =
      command->add_flag("--train", a.train, "compile a training step of the model");
  auto number = [&](const char *name, auto &to, const char *what) {
    return command->add_option(name, to, what)->needs(train)->group("Training");
  };
  number("--loss", t.loss, "of the first output and the input 'target'")
      ->check(CLI::IsMember(dlc::trainingLosses()))
      ->capture_default_str();
  number("--optimizer", t.optimizer, "what makes new parameters of gradients")
      ->check(CLI::IsMember(dlc::trainingOptimizers()))
      ->capture_default_str();
  number("--lr", t.lr, "the learning rate; else the optimizer's default");
  number("--momentum", t.momentum, "of sgd and rmsprop");
  number("--dampening", t.dampening, "of sgd's momentum");
  command->add_flag("--nesterov", t.nesterov, "sgd looks ahead")->needs(train)->group("Training");
  number("--weight-decay", t.weightDecay, "how strongly parameters shrink");
  number("--beta1", t.beta1, "of adam and adamw: memory of gradients");
  number("--beta2", t.beta2, "of adam and adamw: memory of their squares");
  number("--alpha", t.alpha, "of rmsprop: memory of squares");
  number("--eps", t.eps, "what keeps divisors from 0");
  number("--clip-norm", t.clipNorm, "the greatest norm of all gradients together; 0: any");
  number("--clip-value", t.clipValue, "the greatest gradient of an element; 0: any");
  number("--label-smoothing", t.labelSmoothing, "so much of a target goes to all classes")
      ->check(CLI::Range(0.0, 1.0));
  number("--ignore-index", t.ignoreIndex, "a target that does not count");
  number("--micro-batches", t.microBatches, "parts that a batch is taken in, to save memory")
      ->check(CLI::PositiveNumber);
  command
      ->add_flag("--data-parallel", t.dataParallel,
                 "the batch is that of each process; gradients and loss are averaged over all")
      ->needs(train)
      ->group("Training");
  CLI::Option *parallel = command->get_option("--data-parallel");
  command
      ->add_flag("--sync-batch-norm", t.syncBatchNorm,
                 "batch norm has the statistics of all processes' batches")
      ->needs(parallel)
      ->group("Training");
  CLI::Option *world = command->get_option("--world");
  command
      ->add_flag("--shard-optimizer", t.shardOptimizer,
                 "each process keeps its share of the optimizer's memory, and updates its share of "
                 "the parameters")
      ->needs(world)
      ->needs(parallel)
      ->group("Training");
  number("--gradients", t.gradients,
         "what gradients travel in between processes; bf16: half the bytes, 8 significant bits")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str()
      ->needs(parallel);
  number("--reproducible-reductions", t.chunks,
         "so many chunks, whatever the number of processes: added up in one order, to the same "
         "bits")
      ->check(CLI::PositiveNumber)
      ->needs(world)
      ->needs(parallel);
  number("--freeze", t.freeze, "parameters of these names stay (* any characters, ? one)")
      ->take_all()
      ->allow_extra_args(false);
  number(
      "--loss-scale", t.lossScale,
      "multiply the loss for --precision f16, by this at first; steps that overflow are skipped");
  number("--dropout-seed", t.seed, "of dropout's random numbers");
}

void addTuneCommands(CLI::App &app, TuneArguments &a, TuneDbArguments &b) {
  CLI::App *c = app.add_subcommand("tune", "measure which kernels are fastest here, and keep it");
  addModelArguments(c, a, /*required=*/false);
  CLI::Option *model = c->get_option("model");
  CLI::Option *machine =
      c->add_flag(
           "--machine", a.machine,
           "measure this machine instead: the profile that estimates go by, in a few seconds")
          ->excludes(model);
  c->add_option("-o,--output", a.profileFile, "where --machine writes; else into the cache folder")
      ->needs(machine);
  c->get_option("--db")->description("the database to fill; else tuning.jsonl in the cache folder");
  dlc::TuningOptions &tuning = a.options.tuning;
  dlc::addFlags(*c,
                {{"budget", "stop measuring after so long: as in 60s", &tuning.budgetSeconds},
                 {"spread", "the time between two sittings over one operation, at least; else 2s",
                  &tuning.spreadSeconds},
                 {"again", "measure what the database knows too", &tuning.again}});
  c->add_option("--explain", a.explain,
                "show all candidates of operations of these names (* any characters), or keys");
  c->add_option("--batch", a.batch, "the first dimension of inputs that leave it open")
      ->check(CLI::PositiveNumber);
  addTrainingArguments(c, a);

  CLI::App *db = app.add_subcommand("tune-db", "look at tuning databases, merge and compare them");
  db->require_subcommand(1);
  auto action = [&](const char *name, const char *what) {
    CLI::App *command = db->add_subcommand(name, what);
    command->callback([&b, name] { b.action = name; });
    return command;
  };
  CLI::App *show = action("show", "print what a database holds");
  show->add_option("file", b.output, "a database")->required();
  show->add_option("pattern", b.pattern, "only operations of these names, or keys");
  CLI::App *merge = action("merge", "put databases together");
  merge->add_option("output", b.output, "the database to fill; made where it is not there")
      ->required();
  merge->add_option("files", b.files, "those to take from")->required();
  CLI::App *diff = action("diff", "say how far two databases agree; status 1 where they differ");
  diff->add_option("files", b.files, "two databases")->required()->expected(2);
}

void addInspectCommand(CLI::App &app, InspectArguments &a) {
  CLI::App *c = app.add_subcommand("inspect", "show what a program does, with what, and why");
  addModelArguments(c, a);
  CLI::Option *repeat =
      c->add_option("--repeat", a.repeat, "run so often and show each command's time")
          ->capture_default_str();
  c->add_option("--seed", a.seed, "of the random inputs")->capture_default_str();
  c->add_flag("--json", a.json, "print it as one JSON object");
  c->add_flag("--placement", a.placement,
              "show which device each operation is on, why, and what crosses");
  c->add_flag("--layouts", a.layouts,
              "show the layout of each convolution, and what it and the others cost");
  c->add_option("--svg", a.svg, "draw the graph, coloured by kernel and time");
  c->add_option("--html", a.html, "the same as a page with a table");
  c->add_option("--trace", a.trace,
                "of --repeat: write what ran when in the quickest run, for ui.perfetto.dev")
      ->needs(repeat);
  c->add_option("--link", a.link,
                "what carries collectives, as latency and bandwidth: 20us,10GB/s; --repeat then "
                "waits so long for an all-reduce; else what mpirun's processes measure");
  c->add_option("--ranks", a.ranks, "predict the step in worlds of so many ranks: 2,4,1024")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  CLI::Option *machine =
      c->add_option("--ranks-per-machine", a.ranksPerMachine, "of --ranks; else all are on one")
          ->check(CLI::PositiveNumber);
  c->add_option("--link-between", a.between,
                "of --ranks: what carries collectives between machines")
      ->needs(machine);
}

void addTrainCommand(CLI::App &app, TrainArguments &a) {
  CLI::App *c = app.add_subcommand("train", "run a training step over a file of data");
  c->add_option("program", a.program, "a step, made by dlc compile --train (.dlcx)")->required();
  c->add_option("--data", a.data, "an .npz with an array for each of the step's inputs")
      ->required();
  CLI::Option *epochs =
      c->add_option("--epochs", a.epochs, "how often to go through the data, from the beginning on")
          ->check(CLI::PositiveNumber)
          ->capture_default_str();
  c->add_option("--steps", a.steps, "how many steps to take, from the beginning on")
      ->check(CLI::PositiveNumber)
      ->excludes(epochs);
  c->add_flag("--no-shuffle", a.noShuffle, "take the samples in the file's order");
  c->add_option("--seed", a.seed, "of the order of the samples")->capture_default_str();
  c->add_option("--lr", a.lr, "the learning rate, of a step that takes it as an input")
      ->check(CLI::NonNegativeNumber);
  c->add_option("--init", a.init, "begin with the parameters of this .safetensors file");
  CLI::Option *checkpoint =
      c->add_option("--checkpoint", a.checkpoint, "the .safetensors file to keep the state in");
  c->add_option("--checkpoint-every", a.checkpointEvery, "in steps; else at the end of each epoch")
      ->check(CLI::PositiveNumber)
      ->needs(checkpoint);
  c->add_flag("--resume", a.resume, "go on from the checkpoint, if it is there")->needs(checkpoint);
  c->add_option("--log-every", a.logEvery,
                "in steps: a line each; else each epoch, --json each step")
      ->check(CLI::PositiveNumber);
  c->add_flag("--json", a.json, "print lines as JSON objects");
  c->add_option("--svg", a.svg, "draw the loss of each step");
  c->add_option("--trace", a.trace,
                "write what ran when in the last steps, on all ranks, for ui.perfetto.dev");
  c->add_option("--workers", a.workers, "threads that make batches ahead")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  c->add_option("--threads", a.threads, "threads to run with; 0: all that this process may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
}

void addQuantizeCommand(CLI::App &app, QuantizeArguments &a) {
  dlc::quantize::Options &o = a.options;
  CLI::App *c = app.add_subcommand("quantize", "make an ONNX model of eight bits from one in f32");
  c->add_option("model", o.model, "a model in f32 (.onnx)")->required();
  c->add_option("-o,--output", o.output, "the ONNX model to write")->required();
  CLI::Option *data = c->add_option(
      "--data", a.data, "an .npz with an array for each input, samples along the first dimension");
  c->add_option_function<std::string>(
       "--weights",
       [&a](const std::string &text) {
         a.options.weights = text;
         a.saysWeights = true;
       },
       "int8 with a scale per channel, int4 with one per block and values in f32; without --data "
       "values stay in f32")
      ->check(CLI::IsMember({"int8", "int4"}))
      ->default_str(o.weights);
  c->add_option("--block", o.block, "of int4: so many weights have one scale")
      ->capture_default_str();
  c->add_option("--ranges", o.ranges.kind, "how values' scales follow from the data")
      ->check(CLI::IsMember(dlc::quantize::rangeRules()))
      ->capture_default_str()
      ->needs(data);
  c->add_option("--percentile", o.ranges.percentile,
                "of --ranges percentile: so many of a hundred values lie within, at each end")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  c->add_option("--keep", o.keep, "layers of such names or kinds stay in f32 (* any characters)")
      ->take_all()
      ->allow_extra_args(false);
  c->add_option("--least-snr", o.leastSnr,
                "layers with less signal to noise, in dB over the data, stay in f32")
      ->capture_default_str();
  c->add_option("--threads", o.compile.threads, "to run with; 0: all that this process may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  c->add_flag("--json", a.json, "print the report as one JSON object");
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
  CLI::App *compileApp = app.add_subcommand("compile", "compile a model into a program");
  addModelArguments(compileApp, compile);
  compileApp->add_option("-o,--output", compile.output,
                         "the program to write (.dlcx), or text (.mlir) with --to");
  compileApp->add_option("--from", compile.from, "the model stands before this phase already");
  compileApp->add_option("--to", compile.to,
                         "stop after this phase and give the text of the module");
  compileApp
      ->add_option("--print-after", compile.printAfter,
                   "print the module after a phase, or after 'all'")
      ->take_all()
      ->allow_extra_args(false);
  compileApp->add_flag("--time", compile.time, "print the seconds of each phase");

  compileApp
      ->add_option("--batch", compile.batch, "the first dimension of inputs that leave it open")
      ->check(CLI::PositiveNumber);
  addTrainingArguments(compileApp, compile);

  RunArguments run;
  CLI::App *runApp = app.add_subcommand("run", "run a model or a program");
  addModelArguments(runApp, run);
  runApp->add_option("--output-dir", run.outputDir, "write each output as DIR/NAME.npy");
  runApp->add_option("--repeat", run.repeat, "how often to run")->capture_default_str();
  runApp->add_option("--seed", run.seed, "of the random inputs")->capture_default_str();
  runApp->add_flag("--json", run.json, "print the figures as one JSON object");
  runApp->add_flag("--plain-launches", run.plainLaunches,
                   "give a GPU its commands one by one, not as graphs");
  addFlags(*runApp, {{"tune-in-background",
                      "start on the model's choice, measure kernels between the runs for so long "
                      "(as in 60s), and swap the faster ones in",
                      &run.options.tuneInBackground}});
  runApp->add_option("--trace", run.trace, "write what ran when, for ui.perfetto.dev");

  InspectArguments inspect;
  addInspectCommand(app, inspect);

  TrainArguments train;
  addTrainCommand(app, train);

  QuantizeArguments quantize;
  addQuantizeCommand(app, quantize);

  TuneArguments tune;
  TuneDbArguments tuneDb;
  addTuneCommands(app, tune, tuneDb);

  app.add_subcommand("devices", "list what there is to run on, and which libraries were found");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (*compileApp)
      return compileCommand(compile);
    if (*runApp)
      return runCommand(run);
    if (app.got_subcommand("train"))
      return trainCommand(train);
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

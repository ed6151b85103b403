//===- main.cpp - the dlc tool: its arguments
//----------------------------------------------------===//
#include "tools/dlc/Options.h"

#include "dlc/dlc.h"

#include <CLI/CLI.hpp>

#include <cstdio>

using namespace dlc::cli;

namespace {

void addModelArguments(CLI::App *command, ModelArguments &a) {
  command->add_option("model", a.model, "a model (.onnx, .mlir) or a compiled program (.dlcx)")
      ->required();
  command->add_option("--shape", a.shapes, "the shape of an input: NAME=1x3x224x224")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--input", a.inputs, "the value of an input: NAME=FILE.npy")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--device", a.device, "where to run")->capture_default_str();
  command
      ->add_option("--threads", a.threads, "threads to run with; 0: all that this process may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_flag("--tune", a.tune, "measure candidate kernels and remember the fastest");
  command
      ->add_option("--kernels", a.kernels,
                   "whose kernels to take wherever they can do the work; else the fastest")
      ->check(CLI::IsMember({"generated", "rows", "contract", "onednn", "builtin"}));
  command->add_option("--cache", a.cache,
                      "where object code and tuning results are kept, or 'none'; else "
                      "$DLC_CACHE_DIR or ~/.cache/dlc");
}

} // namespace

int main(int argc, char **argv) {
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

  RunArguments run;
  CLI::App *runApp = app.add_subcommand("run", "run a model or a program");
  addModelArguments(runApp, run);
  runApp->add_option("--output-dir", run.outputDir, "write each output as DIR/NAME.npy");
  runApp->add_option("--repeat", run.repeat, "how often to run")->capture_default_str();
  runApp->add_option("--seed", run.seed, "of the random inputs")->capture_default_str();
  runApp->add_flag("--json", run.json, "print the figures as one JSON object");
  runApp->add_option("--trace", run.trace, "write what ran when, for ui.perfetto.dev");

  InspectArguments inspect;
  CLI::App *inspectApp =
      app.add_subcommand("inspect", "show what a program does, with what, and why");
  addModelArguments(inspectApp, inspect);
  inspectApp->add_option("--repeat", inspect.repeat, "run so often and show each command's time")
      ->capture_default_str();
  inspectApp->add_option("--seed", inspect.seed, "of the random inputs")->capture_default_str();
  inspectApp->add_flag("--json", inspect.json, "print it as one JSON object");
  inspectApp->add_option("--svg", inspect.svg, "draw the graph, coloured by kernel and time");
  inspectApp->add_option("--html", inspect.html, "the same as a page with a table");

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
    return inspectCommand(inspect);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "dlc: error: not enough memory\n");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc: error: %s\n", error.what());
  }
  return 1;
}

//===- main.cpp - dlc-gpu-work: one measurement in its own process --------===//
//
// Prints the result as one line of JSON, and errors on stderr. The steps of the kit start this
// program (tools/gpu/README.md).
//
//===----------------------------------------------------------------------------------------===//
#include "tools/gpu/work/Commands.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>

using namespace dlc::gpu;

static CLI::App *addPrecision(CLI::App *command, MeasurementTask &task) {
  command->add_option("--precision", task.precision, "f32, tf32 or bf16")
      ->check(CLI::IsMember({"f32", "tf32", "bf16"}));
  return command;
}

static void addPeaks(CLI::App &command, PeakPerformance &peaks) {
  command.add_option("--gigabytes", peaks.gigabytes, "memory bandwidth of the device in GB/s");
  command.add_option("--f32", peaks.f32, "TFLOP/s");
  command.add_option("--tf32", peaks.tf32, "TFLOP/s");
  command.add_option("--bf16", peaks.bf16, "TFLOP/s");
}

int main(int argc, char **argv) {
  CLI::App app("A measurement of dlc on a GPU");
  app.require_subcommand(1);
  MeasurementTask task;
  PeakPerformance peaks;
  std::string folder = "/tmp";
  int64_t size = 8192;
  int rounds = 10, steps = 3;
  auto command = [&](const char *name, const char *what) {
    CLI::App *made = app.add_subcommand(name, what);
    made->add_option("--device", task.device, "device to measure");
    made->add_option("--rounds", rounds, "number of timed runs");
    made->add_option("--folder", folder, "folder for temporary files and reference results");
    return made;
  };
  auto sized = [&](const char *name, const char *what) {
    CLI::App *made = command(name, what);
    made->add_option("--size", size, "problem size: bytes, elements, rows or kernels");
    return made;
  };
  auto ofNetwork = [&](const char *name, const char *what) {
    CLI::App *made = command(name, what);
    made->add_option("network", task.network, "name of the network, such as resnet-50")->required();
    made->add_option("--mode", task.mode, "inference or training")
        ->check(CLI::IsMember({"inference", "training"}));
    made->add_option("--batch", task.batch, "batch size; 0: the network's own");
    return made;
  };
  auto precise = [&](CLI::App *made) { return addPrecision(made, task); };
  CLI::App *open = command("open", "device properties");
  CLI::App *copy = sized("copies", "copies within the device, to the device and from the device");
  CLI::App *vector = sized("vectors", "memory-bound generated kernel");
  CLI::App *square = sized("product", "matmul of square matrices");
  square->add_option("--precision", task.precision, "f32, tf32, bf16 or int8 (sums in i32)")
      ->check(CLI::IsMember({"f32", "tf32", "bf16", "int8"}));
  square->add_flag("--tune", task.tune, "measure all candidate kernels");
  CLI::App *launch = sized("launches", "many small kernels");
  CLI::App *made =
      ofNetwork("reference", "run a network on the CPU and save the results in the folder");
  made->add_option("--steps", steps, "number of training steps");
  CLI::App *compared = precise(
      ofNetwork("compare", "run the network on the device and compare with the saved results"));
  compared->add_option("--steps", steps, "number of training steps");
  CLI::App *tuned = precise(ofNetwork("tune", "measure kernels into the tuning database"));
  CLI::App *profiled = precise(ofNetwork("profile", "profile the kernels of the network"));
  addPeaks(*profiled, peaks);
  CLI::App *served = precise(ofNetwork("serve", "run on request by lines of stdin"));
  CLI11_PARSE(app, argc, argv);
  try {
    Json result;
    if (*open)
      result = describeDevice(task.device);
    else if (*copy)
      result = measureCopies(task.device, size, rounds);
    else if (*vector)
      result = measureElementwise(task.device, size, rounds, folder);
    else if (*square)
      result = measureMatmul(task, size, rounds, folder);
    else if (*launch)
      result = measureLaunches(task.device, int(size), rounds, folder);
    else if (*made)
      result = computeReference(task, steps, folder);
    else if (*compared)
      result = compareWithReference(task, steps, rounds, folder);
    else if (*tuned)
      result = tuneTask(task);
    else if (*profiled)
      result = profileTask(task, peaks, rounds, folder);
    else if (*served)
      return serveTimingRequests(task), 0;
    // Invalid UTF-8 in names is replaced.
    std::cout << result.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-gpu-work: %s\n", error.what());
    return 1;
  }
}

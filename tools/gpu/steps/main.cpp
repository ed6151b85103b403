//===- main.cpp - dlc-gpu-steps: runs one step of the kit, or prints the summary --------------===//
//
// dlc-gpu-steps STEP|summary --kit FOLDER --state FOLDER --out FOLDER [--seconds N] [--device NAME]
// [--small] [--again]
//
// A step starts programs and collects their results in a JSON file, which is valid at any time.
// This program does not link dlc's libraries.
//
//===----------------------------------------------------------------------------------------===//
#include "tools/gpu/steps/Steps.h"

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>

using namespace dlc::gpu;

namespace {

const std::map<std::string, void (*)(const Settings &)> steps = {
    {"machine", runMachineStep},     {"conformance", runConformanceStep},
    {"networks", runNetworksStep},   {"tune", runTuneStep},
    {"torch", runTorchStep},         {"libraries", runLibrariesStep},
    {"sanitizer", runSanitizerStep},
};

int printUsage() {
  std::fprintf(stderr, "usage: dlc-gpu-steps STEP|summary --kit FOLDER --state FOLDER --out FOLDER "
                       "[--seconds N] [--device NAME] [--small] [--again]\nsteps:");
  for (const auto &[name, step] : steps)
    std::fprintf(stderr, " %s", name.c_str());
  std::fprintf(stderr, "\n");
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return printUsage();
  Settings settings;
  settings.step = argv[1];
  for (int i = 2; i < argc; ++i) {
    std::string a = argv[i];
    if (a == "--small")
      settings.small = true;
    else if (a == "--again")
      settings.again = true;
    else if (i + 1 == argc)
      return printUsage();
    else if (a == "--kit")
      settings.kit = argv[++i];
    else if (a == "--state")
      settings.state = argv[++i];
    else if (a == "--out")
      settings.out = argv[++i];
    else if (a == "--device")
      settings.device = argv[++i];
    else if (a == "--seconds")
      settings.seconds = std::atof(argv[++i]);
    else
      return printUsage();
  }
  auto found = steps.find(settings.step);
  if ((found == steps.end() && settings.step != "summary") || settings.state.empty() ||
      settings.out.empty())
    return printUsage();
  for (const std::string &folder : {settings.state, settings.out, settings.folder()})
    mkdir(folder.c_str(), 0755);
  settings.deadline = now() + settings.seconds;
  installStopHandlers();
  if (settings.step == "summary") {
    std::string text = makeSummary(settings);
    writeText(settings.out + "/summary.txt", text);
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  found->second(settings);
  return 0;
}

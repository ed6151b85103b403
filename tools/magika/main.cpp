//===- main.cpp - dlc-magika: detects the content types of files ----------===//
#include "dlc/compiler.hpp"
#include "tools/magika/Labels.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Returns the folder of the newest model of the magika package in the build's virtual environment.
static std::string findModelDir() {
  std::error_code ignored;
  std::vector<std::string> found;
  for (auto &lib : std::filesystem::directory_iterator("build/venv/lib", ignored))
    for (auto &model :
         std::filesystem::directory_iterator(lib.path() / "site-packages/magika/models", ignored))
      if (std::filesystem::exists(model.path() / "model.onnx"))
        found.push_back(model.path());
  if (found.empty())
    throw dlc::Error("found no model in build/venv/lib/*/site-packages/magika/models; run "
                     "tools/setup, or set --model-dir");
  return *std::max_element(found.begin(), found.end());
}

static int identify(std::string modelDir, const std::vector<std::string> &files, int threads,
                    bool json) {
  if (modelDir.empty())
    modelDir = findModelDir();
  magika::ContentLabels labels(modelDir, modelDir + "/../../config/content_types_kb.min.json");
  auto start = Clock::now();
  dlc::Model net = dlc::compile(modelDir + "/model.onnx", {.threads = threads});
  int64_t tokens = labels.sizes().begin + labels.sizes().end;
  net.prepare({{"bytes", {1, tokens}}});
  double compileMs = millisecondsSince(start);

  double runMs = 0;
  int runs = 0;
  nlohmann::json report = nlohmann::json::array();
  for (const std::string &file : files) {
    magika::FileFeatures features = magika::readFeatures(file, labels.sizes());
    magika::ScoredContentType label{features.simple, labels.describe(features.simple), 1};
    if (features.simple.empty()) {
      dlc::Tensor bytes = dlc::Tensor::of({1, tokens}, features.tokens);
      auto runStart = Clock::now();
      dlc::Tensor scores = net.run({{"bytes", bytes}})["target_label"];
      runMs += millisecondsSince(runStart);
      ++runs;
      label = labels.choose(scores.data<float>());
    }
    if (json)
      report.push_back({{"path", file}, {"label", label.name}, {"score", label.score}});
    else
      std::printf("%-52s %-14s %5.1f %%  %s\n", file.c_str(), label.name.c_str(), 100 * label.score,
                  label.description.c_str());
  }
  if (json)
    std::printf("%s\n", report.dump().c_str());
  else
    std::printf("%zu files; compiled in %.0f ms, %.2f ms a file on the cpu\n", files.size(),
                compileMs, runs ? runMs / runs : 0);
  return 0;
}

int main(int argc, char **argv) {
  CLI::App app("prints the types of files, predicted by a compiled network", "dlc-magika");
  std::string modelDir;
  std::vector<std::string> files;
  int threads = 0;
  bool json = false;
  app.add_option("--model-dir", modelDir,
                 "folder with model.onnx and config.min.json of the magika package");
  app.add_option("--threads", threads, "number of threads; 0: all");
  app.add_flag("--json", json, "print one JSON array");
  app.add_option("files", files, "files whose type is printed")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    return identify(modelDir, files, threads, json);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc-magika: error: %s\n", error.what());
    return 1;
  }
}

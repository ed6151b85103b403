//===- Peers.cpp - comparison with PyTorch, and compute-sanitizer runs ----===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>
#include <unistd.h>

namespace dlc::gpu {

void runTorchStep(const Settings &settings) {
  std::string python = getEnvironment("KIT_PYTHON");
  if (python.empty()) {
    ResultStore store(settings, "torch.json");
    store["skipped"] = "found no python3 with torch; searched: " + getEnvironment("KIT_PYTHONS");
    store.finish("cases", 0);
    return;
  }
  // The PyTorch script writes the results file itself, in the format of the class Store.
  Job job{"torch",
          {python, settings.kit + "/torch/torch_ratios.py", "--work",
           settings.program("dlc-gpu-work"), "--state", settings.state, "--out", settings.out,
           "--device", settings.device, "--seconds", std::to_string(settings.left() - 12)},
          settings.left() - 6};
  // PyTorch runs with its own libraries; the script restores dlc's library path when it starts dlc.
  job.environment = {{"LD_LIBRARY_PATH", getEnvironment("KIT_THEIR_LIBRARIES")},
                     {"KIT_LIBRARIES", getEnvironment("LD_LIBRARY_PATH")}};
  if (access(tunedCache(settings).c_str(), F_OK) == 0)
    job.environment["DLC_CACHE_DIR"] = tunedCache(settings);
  for (const Network &network : selectNetworks(settings)) {
    job.command.push_back("--network");
    job.command.push_back(network.name + ":" + std::to_string(network.batch) +
                          (network.trains ? "" : ":inference"));
  }
  if (settings.small)
    job.command.push_back("--small");
  if (settings.again)
    job.command.push_back("--again");
  JobOutcome outcome = runJob(job, settings.deadline, settings.folder());
  ResultStore store(settings, "torch.json");
  store["script"] = {{"status", nameOf(outcome.end)},
                     {"seconds", outcome.seconds},
                     {"said", truncateStart(outcome.err, outcome.good() ? 500 : 4000)}};
  store["seconds"]["cases"] =
      getObject(store.whole(), "seconds").value("cases", 0.0) + outcome.seconds;
  store.forget("skipped");
  bool complete = store.whole().value("done", false);
  store.finish("cases", complete ? 0 : 1);
}

namespace {

/// Parses the report of compute-sanitizer. Returns the first errors with their locations, and the
/// number of errors.
Json parseSanitizerReport(const JobOutcome &outcome) {
  Json json = {{"status", nameOf(outcome.end)}, {"seconds", outcome.seconds}};
  std::string first;
  int lines = 0;
  bool told = false;
  long errors = 0;
  for (const std::string &line : splitLines(outcome.out + "\n" + outcome.err)) {
    long here = 0;
    if (std::sscanf(line.c_str(), "========= ERROR SUMMARY: %ld error", &here) == 1 ||
        std::sscanf(line.c_str(), "========= RACECHECK SUMMARY: %ld hazard", &here) == 1) {
      told = true;
      errors += here;
      continue;
    }
    // Collects the lines of compute-sanitizer's report. A non-zero exit status of the program is
    // not an error by itself.
    if (line.rfind("=========", 0) == 0 && lines < 40 &&
        line.find("COMPUTE-SANITIZER") == std::string::npos) {
      first += line.substr(9) + "\n";
      ++lines;
    }
  }
  if (told)
    json["errors"] = errors;
  if (!told || errors > 0)
    json["said"] = truncateEnd(first.empty() ? outcome.err : first, 2500);
  if (told && errors > 0)
    json["status"] = "errors";
  else if (told && outcome.end == JobOutcome::End::Failed)
    json["status"] = "ok";
  for (const std::string &line : splitLines(outcome.out))
    if (line.rfind("conformance: ", 0) == 0)
      json["suite"] = line;
  return json;
}

} // namespace

void runSanitizerStep(const Settings &settings) {
  ResultStore store(settings, "sanitizer.json");
  std::string program = getEnvironment("KIT_SANITIZER");
  if (program.empty()) {
    store["skipped"] = "compute-sanitizer was not found in $PATH or below /usr/local/cuda*";
    store.finish("cases", 0);
    return;
  }
  store.forget("skipped");
  store["program"] = program;
  int atOnce = std::clamp(countAvailableCpus() / 3, 1, 5);
  ProcessPool pool(atOnce, settings.deadline - 5, settings.folder());
  auto add = [&](const std::string &tool, const std::string &key,
                 const std::vector<std::string> &arguments) {
    if (!settings.again && store.has("cases", tool + " " + key))
      return;
    Job job;
    job.key = tool + " " + key;
    job.command = {program, "--tool", tool, "--target-processes", "all", "--print-limit", "8"};
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.shares = true;
    job.environment = disableLibrariesEnvironment();
    job.limit = 75;
    pool.add(job);
  };
  auto suite = [&](const std::vector<std::string> &arguments) {
    std::vector<std::string> all = {settings.program("dlc-conformance"), "--device",
                                    settings.device, "--jobs", "1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  };
  // Test cases that failed in the conformance step are run under compute-sanitizer first.
  Json conformance = readJson(settings.state + "/conformance.json");
  std::vector<std::string> failing;
  if (conformance.is_object())
    for (const auto &[key, failure] : getEntries(conformance, "failures"))
      if (key.rfind("generated ", 0) == 0 && failure.value("alone", "") != "passed")
        failing.push_back(key.substr(10, key.find(',') - 10));
  for (size_t i = 0; i < failing.size() && i < 6; ++i)
    add("memcheck", failing[i], suite({"--batch", "1", "--filter", failing[i]}));
  Json networks = readJson(settings.state + "/networks.json");
  int added = 0;
  if (networks.is_object())
    for (const auto &[key, result] : getEntries(networks, "cases"))
      for (const MeasuredConfig &config : configsOf(settings, {"f32", "tf32", "bf16"}))
        if (config.key() == key && result.value("status", "") != "ok" && added++ < 2) {
          std::vector<std::string> all = {settings.program("dlc-gpu-work"), "compare"};
          std::vector<std::string> arguments = config.arguments();
          all.insert(all.end(), arguments.begin(), arguments.end());
          all.insert(all.end(), {"--device", settings.device, "--folder", settings.folder()});
          add("memcheck", key, all);
        }
  int slices = settings.small ? 1 : 24;
  for (int k = 0; k < slices; ++k) {
    std::vector<std::string> part = {"--batch", "12",     "--sample",
                                     "320",     "--from", std::to_string(k * 13)};
    for (const char *tool : {"memcheck", "racecheck"})
      add(tool, std::to_string(k * 13) + "/320", suite(part));
    if (k % 4 == 3)
      add("synccheck", std::to_string(k * 13) + "/320", suite(part));
  }
  pool.run([&](const Job &job, const JobOutcome &outcome) {
    store.put("cases", job.key, parseSanitizerReport(outcome));
  });
  store.finish("cases", pool.left());
}

} // namespace dlc::gpu

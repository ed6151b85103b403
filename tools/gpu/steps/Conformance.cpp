//===- Conformance.cpp - runs the conformance suite on the device in slices -------------------===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace dlc::gpu {
namespace {

/// Returns a filter that matches the test case of this name and few others. The name is cut at the
/// first comma, because a comma separates filters.
std::string filterOf(const std::string &name) { return name.substr(0, name.find(',')); }

constexpr size_t kMessage = 400, kFailures = 400;

/// One configuration of the conformance suite, split into slices of test cases.
struct SuiteConfig {
  std::string name;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  int slices;
};

class ConformanceSuite {
public:
  explicit ConformanceSuite(const Settings &settings)
      : settings(settings), store(settings, "conformance.json"),
        atOnce(std::clamp(countAvailableCpus(), 1, 16)),
        pool(atOnce, settings.deadline - 5, settings.folder()) {
    store["what"] = "slices of the conformance suite, K of N; failures with their messages; "
                    "'alone': result of the case in a separate process";
  }

  void run(std::vector<SuiteConfig> given) {
    parts = std::move(given);
    for (size_t i = 0; i < parts.size(); ++i)
      for (int k = 0; k < count(parts[i]); ++k)
        if (settings.again || !isDone(parts[i], parts[i].slices, k))
          pool.add(slice(i, parts[i].slices, k));
    pool.run([&](const Job &job, const JobOutcome &outcome) { take(job, outcome); });
    for (const SuiteConfig &part : parts)
      sum(part);
    alone();
    for (const SuiteConfig &part : parts)
      store.finish(part.name, pool.left());
  }

private:
  /// Returns how many slices of the conformance suite are run: all, or at most two if only a short
  /// test of the tool is requested (`small`).
  int count(const SuiteConfig &part) const {
    return settings.small ? std::min(part.slices, 2) : part.slices;
  }

  static std::string keyOf(int slices, int k) {
    return std::to_string(k) + "/" + std::to_string(slices);
  }

  bool isDone(const SuiteConfig &part, int slices, int k) const {
    return store.has(part.name, keyOf(slices, k));
  }

  std::vector<std::string> command() const {
    return {settings.program("dlc-conformance"), "--device", settings.device, "--jobs", "1"};
  }

  Job slice(size_t part, int slices, int k) {
    Job job;
    job.key = parts[part].name + " " + keyOf(slices, k);
    job.command = command();
    job.command.insert(job.command.end(), {"--batch", "48", "--sample", std::to_string(slices),
                                           "--from", std::to_string(k)});
    job.command.insert(job.command.end(), parts[part].arguments.begin(),
                       parts[part].arguments.end());
    job.shares = true;
    job.environment = parts[part].environment;
    job.limit = 60;
    slicesOf[job.key] = {part, slices, k};
    return job;
  }

  void take(const Job &job, const JobOutcome &outcome) {
    auto [number, slices, k] = slicesOf.at(job.key);
    const SuiteConfig &part = parts[number];
    bool isEnded = outcome.good() || outcome.end == JobOutcome::End::Failed;
    int passed = 0, failed = 0;
    bool told = false;
    for (const std::string &line : splitLines(outcome.out)) {
      if (line.rfind("FAIL ", 0) == 0)
        failure(part, line.substr(5));
      told |= std::sscanf(line.c_str(), "conformance: %d passed, %d failed", &passed, &failed) == 2;
    }
    Json json = {{"status", nameOf(outcome.end)}, {"seconds", outcome.seconds}};
    if (told) {
      json["status"] = failed ? "failed" : "ok";
      json["passed"] = passed;
      json["failed"] = failed;
    } else {
      json["said"] = truncateStart(outcome.err, 600);
      // A slice that crashed or hung has no results, so it is split into four smaller slices,
      // unless it is already one of 8000 or more.
      if (!isEnded && slices < 8000) {
        json["status"] = std::string(nameOf(outcome.end)) + ", cut up";
        for (int i = 0; i < 4; ++i)
          pool.add(slice(number, slices * 4, k + slices * i));
      }
    }
    store.put(part.name, keyOf(slices, k), json);
  }

  /// Records a failed test case, given as "name: reason".
  void failure(const SuiteConfig &part, const std::string &text) {
    size_t colon = text.find(": ");
    std::string name = text.substr(0, colon), key = part.name + " " + name;
    if (colon == std::string::npos ||
        store.whole().value("failures", Json::object()).size() >= kFailures)
      return;
    if (settings.again || !store.has("failures", key))
      store.put("failures", key, {{"message", truncateEnd(text.substr(colon + 2), kMessage)}});
  }

  void sum(const SuiteConfig &part) {
    int passed = 0, failed = 0, lost = 0;
    double seconds = 0;
    for (const auto &[key, slice] : getEntries(store.whole(), part.name)) {
      passed += slice.value("passed", 0);
      failed += slice.value("failed", 0);
      lost += !slice.contains("passed");
      seconds += slice.value("seconds", 0.0);
    }
    store["totals"][part.name] = {{"passed", passed},
                                  {"failed", failed},
                                  {"slices_without_result", lost},
                                  {"slices", store.whole().value(part.name, Json::object()).size()},
                                  {"process_seconds", seconds}};
  }

  /// Runs failed test cases again, each in a process of its own. After an error that destroys the
  /// device context, all later cases in the same process fail; only a separate run tells which case
  /// caused the error.
  void alone() {
    std::set<std::string> families;
    std::vector<std::pair<std::string, Json>> failures;
    for (const auto &[key, failure] : getEntries(store.whole(), "failures"))
      failures.push_back({key, failure});
    // Sorts one failed test case of each operation to the front, because the number of cases that
    // are run again is limited.
    std::stable_partition(failures.begin(), failures.end(), [&](const auto &each) {
      return families.insert(each.first.substr(0, each.first.find('/'))).second;
    });
    size_t most = settings.small ? 2 : 80;
    ProcessPool single(atOnce, settings.deadline - 3, settings.folder());
    for (const auto &[key, failure] : failures) {
      std::string name = key.substr(key.find(' ') + 1), part = key.substr(0, key.find(' '));
      auto of = std::find_if(parts.begin(), parts.end(),
                             [&](const SuiteConfig &each) { return each.name == part; });
      if (failure.contains("alone") || of == parts.end() || most == 0)
        continue;
      --most;
      Job job;
      job.key = key;
      job.command = command();
      // Passes the configuration's options (--kernels) on, except --filter, which is replaced by
      // the name of the case.
      for (size_t i = 0; i + 1 < of->arguments.size(); i += 2)
        if (of->arguments[i] != "--filter")
          job.command.insert(job.command.end(), {of->arguments[i], of->arguments[i + 1]});
      job.command.insert(job.command.end(), {"--batch", "1", "--filter", filterOf(name)});
      job.shares = true;
      job.environment = of->environment;
      job.limit = 40;
      single.add(job);
    }
    single.run([&](const Job &job, const JobOutcome &outcome) {
      std::string name = job.key.substr(job.key.find(' ') + 1), message;
      for (const std::string &line : splitLines(outcome.out))
        if (line.rfind("FAIL " + name + ": ", 0) == 0)
          message = truncateEnd(line.substr(name.size() + 7), kMessage);
      Json json = store.whole().at("failures").at(job.key);
      bool isEnded = outcome.good() || outcome.end == JobOutcome::End::Failed;
      json["alone"] = !isEnded ? nameOf(outcome.end) : message.empty() ? "passed" : message;
      store.put("failures", job.key, json);
    });
  }

  const Settings &settings;
  ResultStore store;
  int atOnce;
  ProcessPool pool;
  std::vector<SuiteConfig> parts;
  struct Slice {
    size_t part;
    int slices, k;
  };
  std::map<std::string, Slice> slicesOf;
};

} // namespace

void runConformanceStep(const Settings &settings) {
  ConformanceSuite(settings).run(
      {{"generated", {}, disableLibrariesEnvironment(), settings.small ? 800 : 64}});
}

void runLibrariesStep(const Settings &settings) {
  bool small = settings.small;
  std::vector<SuiteConfig> parts;
  auto isThere = [](const char *name) {
    std::string path = getEnvironment(name);
    return !path.empty() && path != "/none";
  };
  if (isThere("DLC_CUDA_CUBLASLT"))
    parts.push_back(
        {"cublaslt", {"--kernels", "cublaslt", "--filter", "matmul/"}, {}, small ? 30 : 16});
  if (isThere("DLC_CUDA_CUDNN"))
    parts.push_back(
        {"cudnn", {"--kernels", "cudnn", "--filter", "conv,attention"}, {}, small ? 60 : 24});
  if (!parts.empty() && !small)
    parts.push_back({"chosen", {"--filter", "matmul/,conv,attention"}, {}, 24});
  if (parts.empty()) {
    ResultStore store(settings, "conformance.json");
    store["libraries_skipped"] = "neither cuBLASLt nor cuDNN was found here";
    store.finish("libraries", 0);
    return;
  }
  ConformanceSuite(settings).run(parts);
}

} // namespace dlc::gpu

//===- Tune.cpp - kernel tuning, and profiles of the networks -------------===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace dlc::gpu {
namespace {

/// Maximum number of bytes of the tuning database that are copied into the results.
constexpr size_t kDatabase = 4 << 20;

class TuneStep {
public:
  explicit TuneStep(const Settings &settings)
      : settings(settings), store(settings, "tune.json"),
        pool(1, settings.deadline - 8, settings.folder()) {}

  void run() {
    store["what"] = "model: kernels chosen by the cost model; tuning: duration of the measurement, "
                    "or that it was stopped; tuned: kernels chosen by measurement. 'fraction': "
                    "share of the memory or arithmetic limit in machine.json";
    Json machine = readJson(settings.state + "/machine.json");
    Json peaks = machine.is_object() ? machine.value("peaks", Json::object()) : Json::object();
    store["peaks"] = peaks;
    for (const char *name : {"gigabytes", "f32", "tf32", "bf16"}) {
      limits.push_back(std::string("--") + name);
      limits.push_back(std::to_string(peaks.value(name, 0.0)));
    }
    std::vector<MeasuredConfig> configs =
        configsOf(settings, settings.small ? std::vector<std::string>{"f32"}
                                           : std::vector<std::string>{"bf16", "tf32"});
    if (settings.small)
      configs.resize(1);
    // The cache folder of tuning starts as a copy of the existing cache, so that kernels are not
    // compiled again.
    if (access(tunedCache(settings).c_str(), F_OK) != 0)
      runJob({"", {"cp", "-a", "-l", getEnvironment("DLC_CACHE_DIR"), tunedCache(settings)}, 60},
             settings.deadline, settings.folder());
    // All networks are profiled with the cost model before any network is tuned.
    for (const MeasuredConfig &config : configs)
      add("model", "profile", config, 60);
    for (const MeasuredConfig &config : configs) {
      add("tuning", "tune", config, 22);
      add("tuned", "profile", config, 60);
    }
    if (!settings.small)
      for (const MeasuredConfig &config : configsOf(settings, {"f32"}))
        add("model", "profile", config, 60);
    pool.run([&](const Job &job, const JobOutcome &outcome) {
      size_t space = job.key.find(' ');
      Json json = jsonOf(outcome);
      json["clocks"] = clocks();
      store.put(job.key.substr(0, space), job.key.substr(space + 1), json);
    });
    database();
    store.finish("cases", pool.left());
  }

private:
  void add(const std::string &part, const std::string &command, const MeasuredConfig &config,
           double limit) {
    if (!settings.again && store.has(part, config.key()))
      return;
    Job job;
    job.key = part + " " + config.key();
    job.command = {settings.program("dlc-gpu-work"), command};
    std::vector<std::string> arguments = config.arguments();
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.command.insert(job.command.end(),
                       {"--device", settings.device, "--folder", settings.folder()});
    if (command == "profile") {
      job.command.insert(job.command.end(), limits.begin(), limits.end());
      job.command.insert(job.command.end(), {"--rounds", settings.small ? "1" : "10"});
    }
    // The short form runs on an emulated GPU, whose host compiler needs more time.
    job.limit = settings.small ? 60 : limit;
    // Tuning uses another cache folder, because its measurements must not influence the results of
    // the cost model.
    if (part != "model")
      job.environment["DLC_CACHE_DIR"] = tunedCache(settings);
    pool.add(job);
  }

  /// Returns the current clocks and temperature of the device, if nvidia-smi is available.
  std::string clocks() {
    std::string program = getEnvironment("KIT_NVIDIA_SMI");
    if (program.empty())
      return "";
    JobOutcome outcome = runJob(
        {"",
         {program, "--query-gpu=clocks.sm,clocks.mem,temperature.gpu", "--format=csv,noheader"},
         10},
        settings.deadline, settings.folder());
    return outcome.out.substr(0, outcome.out.find('\n'));
  }

  /// Copies the tuning database into the results, to be inspected or distributed.
  void database() {
    std::ifstream file(tunedCache(settings) + "/tuning.jsonl");
    Json lines = Json::array();
    size_t bytes = 0, dropped = 0;
    for (std::string line; std::getline(file, line);) {
      bytes += line.size();
      if (bytes > kDatabase)
        ++dropped;
      else
        lines.push_back(line);
    }
    store["database"] = lines;
    store["database_lines_left_out"] = dropped;
  }

  const Settings &settings;
  ResultStore store;
  ProcessPool pool;
  std::vector<std::string> limits;
};

} // namespace

std::string tunedCache(const Settings &settings) { return settings.state + "/tuned"; }

void runTuneStep(const Settings &settings) { TuneStep(settings).run(); }

} // namespace dlc::gpu

//===- Machine.cpp - machine, libraries and peak performance --------------===//
#include "tools/gpu/steps/Steps.h"

#include <algorithm>

namespace dlc::gpu {
namespace {

class MachineMeasurements {
public:
  explicit MachineMeasurements(const Settings &settings)
      : settings(settings), store(settings, "machine.json") {}

  void run() {
    store["kit"] = getEnvironment("KIT_ID");
    store["processors"] = countAvailableCpus();
    for (const char *name : {"DLC_CUDA_DRIVER", "DLC_CUDA_NVRTC", "DLC_CUDA_CUBLASLT",
                             "DLC_CUDA_CUDNN", "KIT_NVIDIA_SMI", "KIT_SANITIZER", "KIT_PYTHON"})
      store["found"][name] = getEnvironment(name);
    store["found"]["system"] = said({"uname", "-srm"});
    smi("before");
    // Runs `dlc devices` with the library search path of the user, and then with the libraries that
    // the kit found.
    devices("devices", {{"DLC_CUDA_DRIVER", getEnvironment("KIT_OWN_DRIVER")},
                        {"DLC_CUDA_NVRTC", getEnvironment("KIT_OWN_NVRTC")},
                        {"DLC_CUDA_CUBLASLT", ""},
                        {"DLC_CUDA_CUDNN", ""},
                        {"LD_LIBRARY_PATH", getEnvironment("KIT_OWN_LIBRARIES")}});
    devices("devices_as_found", {});
    work("open", {});
    // The measurements that the others depend on are run first.
    const bool small = settings.small;
    work("vectors", {"--size", small ? "65536" : "268435456", "--rounds", small ? "1" : "20"});
    work("copies", {"--size", small ? "1048576" : "2147483648", "--rounds", small ? "1" : "15"});
    std::vector<std::string> many = {"--size", small ? "8" : "100", "--rounds", small ? "1" : "50"};
    work("launches", many);
    work("launches", many, {{"DLC_PLAIN_LAUNCHES", "1"}}, "launches, plain");
    for (const char *precision : {"bf16", "int8", "tf32", "f32"}) {
      if (small && precision == std::string("tf32"))
        continue;
      std::vector<std::string> arguments = {"--precision",         precision,  "--size",
                                            small ? "64" : "8192", "--rounds", small ? "1" : "15"};
      work("product", arguments, disableLibrariesEnvironment(),
           std::string("product ") + precision);
      arguments.push_back("--tune");
      if (hasLibraries())
        work("product", arguments, {}, std::string("product ") + precision + ", tuned");
    }
    smi("after");
    peaks();
    store.finish("cases", left);
  }

private:
  std::string said(const std::vector<std::string> &command) {
    JobOutcome outcome = runJob({"", command, 20}, settings.deadline, settings.folder());
    return truncateStart(outcome.out + (outcome.good() ? "" : outcome.err), 4000);
  }

  /// Stores the output of nvidia-smi. Each field is queried separately, because some versions of
  /// nvidia-smi do not support all fields.
  void smi(const char *when) {
    std::string program = getEnvironment("KIT_NVIDIA_SMI");
    if (program.empty()) {
      store["nvidia-smi"] = "not found";
      return;
    }
    for (const char *query :
         {"name,driver_version,memory.total,memory.used",
          "clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem",
          "temperature.gpu,power.draw,power.limit", "clocks_event_reasons.active",
          "compute_mode,mig.mode.current,ecc.mode.current",
          "pcie.link.gen.current,pcie.link.width.current"})
      store["nvidia-smi"][when][query] =
          said({program, std::string("--query-gpu=") + query, "--format=csv,noheader"});
    store.write();
  }

  void devices(const char *key, const std::map<std::string, std::string> &environment) {
    JobOutcome outcome = runJob({key, {settings.program("dlc"), "devices"}, 40, environment},
                                settings.deadline, settings.folder());
    store[key] = splitLines(truncateStart(outcome.out + outcome.err, 8000));
    store.write();
  }

  void work(const std::string &what, std::vector<std::string> arguments,
            const std::map<std::string, std::string> &environment = {}, std::string key = "") {
    key = key.empty() ? what : key;
    if (!settings.again && store.has("cases", key) && store.whole()["cases"][key]["status"] == "ok")
      return;
    Job job{key, {settings.program("dlc-gpu-work"), what}, 90, environment};
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.command.insert(job.command.end(),
                       {"--device", settings.device, "--folder", settings.folder()});
    JobOutcome outcome = runJob(job, settings.deadline - 5, settings.folder());
    if (outcome.end == JobOutcome::End::Cut)
      ++left;
    else
      store.put("cases", key, jsonOf(outcome));
  }

  double found(const std::string &key, const char *figure) const {
    Json cases = store.whole().value("cases", Json::object());
    if (!cases.contains(key) || !cases[key].contains("result"))
      return 0;
    return cases[key]["result"].value(figure, 0.0);
  }

  /// Stores the peak performance of the device, with which other steps compare their results: the
  /// maximum of the measurements.
  void peaks() {
    Json peaks;
    peaks["gigabytes"] = std::max(found("copies", "within_gb_s"), found("vectors", "gb_s"));
    for (std::string precision : {"f32", "tf32", "bf16", "int8"})
      peaks[precision] = std::max(found("product " + precision, "tflops"),
                                  found("product " + precision + ", tuned", "tflops"));
    store["peaks"] = peaks;
  }

  const Settings &settings;
  ResultStore store;
  size_t left = 0;
};

} // namespace

void runMachineStep(const Settings &settings) { MachineMeasurements(settings).run(); }

} // namespace dlc::gpu

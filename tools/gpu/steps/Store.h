//===- Store.h - results of a step, written to disk continuously ----------===//
#ifndef DLC_TOOLS_GPU_STEPS_STORE_H
#define DLC_TOOLS_GPU_STEPS_STORE_H

#include "tools/gpu/steps/Process.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::gpu {

using Json = nlohmann::ordered_json;

/// Command-line settings of a step.
struct Settings {
  std::string step;
  std::string kit;   ///< folder of the kit, with bin/ and torch/
  std::string state; ///< folder of the state with which a later session of the kit continues
  std::string out;   ///< folder of the result files
  std::string device = "cuda:0";
  double seconds = 300;
  bool small = false, again = false;
  double deadline = 0; ///< time of now() at which the step must end

  std::string program(const char *name) const { return kit + "/bin/" + name; }
  std::string folder() const { return state + "/files"; }
  double left() const { return deadline - now(); }
};

/// Returns the member object of this name, or an empty object if there is none.
Json getObject(const Json &json, const std::string &name);
/// Returns the (key, value) entries of the member object of this name, for iteration.
std::vector<std::pair<std::string, Json>> getEntries(const Json &json, const std::string &name);
/// Reads a JSON file. Returns null if the file does not exist or is not valid JSON.
Json readJson(const std::string &path);
/// Writes a text to a file, which is replaced atomically.
void writeText(const std::string &path, const std::string &text);

/// A results file of a step, with entries by key. The file is written soon after each entry is
/// added.
class ResultStore {
public:
  /// Opens the results file, such as "networks.json", and continues with its existing entries.
  ResultStore(const Settings &settings, const std::string &file);
  /// Returns a reference to a top-level member of the file.
  Json &operator[](const char *name) { return all[name]; }
  /// Removes a top-level member that no longer applies, such as "skipped".
  void forget(const char *name) { all.erase(name); }
  const Json &whole() const { return all; }
  bool has(const std::string &part, const std::string &key) const;
  void put(const std::string &part, const std::string &key, const Json &value);
  /// Records that a part of the step has ended. `left` is the number of jobs that were not run.
  void finish(const std::string &part, size_t left);
  void write();

private:
  const Settings &settings;
  std::string file;
  double began;
  Json all;
  double written = 0;
};

/// Returns the last line of a text that is a JSON object, or null.
Json parseLastJsonObject(const std::string &text);
/// Returns the last `most` bytes of a text; truncateEnd() returns the first bytes.
std::string truncateStart(const std::string &text, size_t most);
std::string truncateEnd(const std::string &text, size_t most);
/// Returns the outcome of a job as JSON: its status, its time, the JSON object that the program
/// printed, and, if it failed, its error output.
Json jsonOf(const JobOutcome &outcome, size_t maxText = 1500);

std::vector<std::string> splitLines(const std::string &text);
/// Returns the value of an environment variable, or an empty string if it is not set.
std::string getEnvironment(const char *name);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_STORE_H

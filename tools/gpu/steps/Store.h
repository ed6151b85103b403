//===- Store.h - results of a step, written to disk continuously ----------===//
#ifndef DLC_TOOLS_GPU_STEPS_STORE_H
#define DLC_TOOLS_GPU_STEPS_STORE_H

#include "tools/gpu/steps/Process.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::gpu {

using Json = nlohmann::ordered_json;

/// Settings of a step.
struct Settings {
  std::string step;
  std::string kit;   ///< folder with bin/ and torch/
  std::string state; ///< folder of the state with which a later session continues
  std::string out;   ///< folder of the results for the reader
  std::string device = "cuda:0";
  double seconds = 300;
  bool small = false, again = false;
  double deadline = 0; ///< a time of now()

  std::string program(const char *name) const { return kit + "/bin/" + name; }
  std::string folder() const { return state + "/files"; }
  double left() const { return deadline - now(); }
};

/// Returns the object of this name, or an empty object.
Json partOf(const Json &json, const std::string &name);
/// Returns the entries of the object of this name, for iteration.
std::vector<std::pair<std::string, Json>> entriesOf(const Json &json, const std::string &name);
/// Returns null if the file does not exist or is not valid JSON.
Json readJson(const std::string &path);
/// Writes the file atomically.
void writeText(const std::string &path, const std::string &text);

/// A results file with entries by key. The file is written soon after each entry is added.
class Store {
public:
  /// Continues with the existing file. `file` is a name such as "networks.json".
  Store(const Settings &settings, const std::string &file);
  /// Accesses a top-level member of the file.
  Json &operator[](const char *name) { return all[name]; }
  /// Removes a top-level member that no longer applies, such as "skipped".
  void forget(const char *name) { all.erase(name); }
  const Json &whole() const { return all; }
  bool has(const std::string &part, const std::string &key) const;
  void put(const std::string &part, const std::string &key, const Json &value);
  /// Records that a part of the step has ended, with the number of jobs that were not run.
  void finish(const std::string &part, size_t left);
  void write();

private:
  const Settings &settings;
  std::string file;
  double began;
  Json all;
  double written = 0;
};

/// Returns the last line that is a JSON object, or null.
Json lastObject(const std::string &text);
/// Return at most `most` bytes of the end or the beginning of a text.
std::string endOf(const std::string &text, size_t most);
std::string startOf(const std::string &text, size_t most);
/// Returns the status, the time, the JSON object that the program printed, and, if it failed, its
/// error output.
Json jsonOf(const Outcome &outcome, size_t maxText = 1500);

std::vector<std::string> linesOf(const std::string &text);
/// Returns the value of the environment variable, or an empty string.
std::string variable(const char *name);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_STORE_H

//===- Store.h - a step's results, on the disk at any moment --------------===//
#ifndef DLC_TOOLS_GPU_STEPS_STORE_H
#define DLC_TOOLS_GPU_STEPS_STORE_H

#include "tools/gpu/steps/Process.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::gpu {

using Json = nlohmann::ordered_json;

/// What a step was told.
struct Settings {
  std::string step;
  std::string kit;   ///< the folder with bin/ and torch/
  std::string state; ///< what goes on where it was left
  std::string out;   ///< where the reader finds the files
  std::string device = "cuda:0";
  double seconds = 300;
  bool small = false, again = false;
  double deadline = 0; ///< by now()

  std::string program(const char *name) const { return kit + "/bin/" + name; }
  std::string folder() const { return state + "/files"; }
  double left() const { return deadline - now(); }
};

/// The object of that name, or an empty one.
Json partOf(const Json &json, const std::string &name);
/// What is in it, to go through.
std::vector<std::pair<std::string, Json>> entriesOf(const Json &json, const std::string &name);
/// Null where there is none, or it is no JSON.
Json readJson(const std::string &path);
/// Whole or not at all.
void writeText(const std::string &path, const std::string &text);

/// One file of results by key. Everything that is put in is written at once.
class Store {
public:
  /// Goes on with what is there, unless it is to be done again. `file`: as in "networks.json".
  Store(const Settings &settings, const std::string &file);
  /// Under a name of the whole file.
  Json &operator[](const char *name) { return all[name]; }
  /// What stood in the way before and does no more.
  void forget(const char *name) { all.erase(name); }
  const Json &whole() const { return all; }
  bool has(const std::string &part, const std::string &key) const;
  void put(const std::string &part, const std::string &key, const Json &value);
  /// Says whether all was done that is to be done.
  void finish(const std::string &part, size_t left);
  void write();

private:
  const Settings &settings;
  std::string file;
  double began;
  Json all;
  double written = 0;
};

/// A JSON object in the last line that has one, or null.
Json lastObject(const std::string &text);
/// The end of a text, or its beginning, without bytes that are no UTF-8.
std::string endOf(const std::string &text, size_t most);
std::string startOf(const std::string &text, size_t most);
/// Status, seconds, the object that it printed, and what it said where it did not end well.
Json jsonOf(const Outcome &outcome, size_t mostText = 1500);

std::vector<std::string> linesOf(const std::string &text);
/// What `name` is set to, or nothing.
std::string variable(const char *name);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_STORE_H

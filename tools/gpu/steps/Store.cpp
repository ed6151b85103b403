//===- Store.cpp - results of a step, written to disk continuously --------===//
#include "tools/gpu/steps/Store.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace dlc::gpu {

Json getObject(const Json &json, const std::string &name) {
  if (json.is_object() && json.contains(name) && json[name].is_object())
    return json[name];
  return Json::object();
}

std::vector<std::pair<std::string, Json>> getEntries(const Json &json, const std::string &name) {
  std::vector<std::pair<std::string, Json>> entries;
  Json part = getObject(json, name);
  for (const auto &[key, value] : part.items())
    entries.push_back({key, value});
  return entries;
}

Json readJson(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return nullptr;
  Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(nullptr) : json;
}

void writeText(const std::string &path, const std::string &text) {
  std::string part = path + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
  }
  std::rename(part.c_str(), path.c_str());
}

ResultStore::ResultStore(const Settings &settings, const std::string &file)
    : settings(settings), file(file), began(now()) {
  Json before = readJson(settings.state + "/" + file);
  if (before.is_object())
    all = std::move(before);
  else
    all = Json::object();
  char when[32];
  std::time_t time = std::time(nullptr);
  std::strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  all["when"] = when;
  all["small"] = settings.small;
}

bool ResultStore::has(const std::string &part, const std::string &key) const {
  return all.contains(part) && all[part].contains(key);
}

void ResultStore::put(const std::string &part, const std::string &key, const Json &value) {
  all[part][key] = value;
  // Limits the rate of writes to one per 0.5 seconds, because files may be large.
  if (now() - written > 0.5)
    write();
}

void ResultStore::finish(const std::string &part, size_t left) {
  all["complete"][part] = left == 0;
  all["left"][part] = left;
  all["seconds"][part] = getObject(all, "seconds").value(part, 0.0) + now() - began;
  began = now();
  write();
}

void ResultStore::write() {
  written = now();
  std::string text = all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  writeText(settings.state + "/" + file, text);
  if (settings.out != settings.state)
    writeText(settings.out + "/" + file, text);
}

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

Json parseLastJsonObject(const std::string &text) {
  std::vector<std::string> lines = splitLines(text);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->empty() || line->front() != '{')
      continue;
    Json json = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object())
      return json;
  }
  return nullptr;
}

std::string truncateEnd(const std::string &text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + " [...]";
}

std::string truncateStart(const std::string &text, size_t most) {
  return text.size() <= most ? text : "[...] " + text.substr(text.size() - most);
}

Json jsonOf(const JobOutcome &outcome, size_t maxText) {
  Json result = parseLastJsonObject(outcome.out);
  Json json = {{"status", nameOf(outcome.end)}, {"seconds", outcome.seconds}};
  if (outcome.good() && result.is_object() && result.contains("ok") && result["ok"] == false)
    json["status"] = "wrong";
  if (result.is_object())
    json["result"] = std::move(result);
  if (!outcome.good()) {
    json["exit"] = outcome.status;
    json["said"] = truncateStart(outcome.err, maxText);
  }
  return json;
}

std::string getEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

} // namespace dlc::gpu

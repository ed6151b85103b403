//===- Processor.cpp - model and caches of the host CPU -------------------===//
#include "codegen/machine/Processor.h"

#include <fstream>
#include <map>
#include <set>

namespace dlc {

static std::string readFirstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

static std::string readProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> first;
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (size_t colon = line.find(':'); colon != std::string::npos) {
      std::string name = line.substr(0, colon);
      name.erase(name.find_last_not_of(" \t") + 1);
      first[name] = colon + 2 < line.size() ? line.substr(colon + 2) : "";
    }
  if (first["model name"].empty())
    return "unknown";
  return first["model name"] + " " + first["cpu family"] + "-" + first["model"] + "-" +
         first["stepping"];
}

static std::string readCaches() {
  std::map<std::string, std::multiset<std::string>> levels;
  for (int i = 0; i < 8; ++i) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    if (std::string level = readFirstLine(folder + "level"); !level.empty())
      levels[level].insert(readFirstLine(folder + "size"));
  }
  std::string text;
  for (auto &[level, sizes] : levels) {
    text += text.empty() ? "" : " ";
    for (auto it = sizes.begin(); it != sizes.end(); ++it)
      text += (it == sizes.begin() ? "" : "+") + *it;
  }
  return text.empty() ? "unknown" : text;
}

const std::string &processorModel() {
  static const std::string model = readProcessorModel();
  return model;
}

const std::string &processorCaches() {
  static const std::string caches = readCaches();
  return caches;
}

} // namespace dlc

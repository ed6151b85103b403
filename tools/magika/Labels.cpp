//===- Labels.cpp - maps the network's 214 scores to content types --------===//
#include "tools/magika/Labels.h"

#include "dlc/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace magika {

static nlohmann::json readJson(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw dlc::Error(path +
                     ": cannot be opened; required: the file of that name in the magika package");
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception &error) {
    throw dlc::Error(path + ": " + error.what());
  }
}

ContentLabels::ContentLabels(const std::string &modelDir, const std::string &kindsFile) {
  std::string path = modelDir + "/config.min.json";
  nlohmann::json config = readJson(path), kinds = readJson(kindsFile);
  try {
    featureSizes = {config.at("beg_size"), config.at("end_size"), config.at("padding_token"),
                    config.at("block_size"), config.at("min_file_size_for_dl")};
    if (config.at("mid_size") != 0 || config.at("use_inputs_at_offsets") != false)
      throw dlc::Error(path + ": required: a model that reads bytes at the beginning and the end "
                              "of a file; found: one that also reads others");
    names = config.at("target_labels_space").get<std::vector<std::string>>();
    thresholds = config.at("thresholds").get<std::map<std::string, double>>();
    instead = config.at("overwrite_map").get<std::map<std::string, std::string>>();
    usualThreshold = config.at("medium_confidence_threshold");
    for (auto &[name, kind] : kinds.items()) {
      isText[name] = kind.at("is_text");
      descriptions[name] =
          kind.at("description").is_string() ? kind.at("description").get<std::string>() : name;
    }
  } catch (const nlohmann::json::exception &error) {
    throw dlc::Error(path + ": " + error.what());
  }
}

ScoredContentType ContentLabels::choose(const float *scores) const {
  size_t best = size_t(std::max_element(scores, scores + names.size()) - scores);
  double score = scores[best];
  std::string name = names[best];
  auto own = thresholds.find(name);
  double threshold = own == thresholds.end() ? usualThreshold : own->second;
  if (auto other = instead.find(name); other != instead.end())
    name = other->second;
  if (score < threshold) {
    auto text = isText.find(name);
    name = text != isText.end() && text->second ? "txt" : "unknown";
  }
  return {name, describe(name), score};
}

std::string ContentLabels::describe(const std::string &name) const {
  auto found = descriptions.find(name);
  return found == descriptions.end() ? name : found->second;
}

} // namespace magika

//===- Profile.cpp - measured cost-model parameters of a machine ----------===//
#include "codegen/machine/Profile.h"

#include "llvm/ADT/StringSet.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace dlc {

namespace {

/// Format version of profiles. Must be incremented when the meaning of a parameter changes.
constexpr int kVersion = 1;
constexpr const char *kKind = "dlc machine profile";

using Json = nlohmann::ordered_json;

double roundToDigits(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

void readCostParameters(const Json &given, Machine &machine) {
  llvm::StringSet<> known;
  for (const CostParameter &figure : getCostParameters()) {
    known.insert(figure.name);
    const Json &value = given.at(figure.name.str());
    machine.*figure.field = value.get<double>();
    if (!(machine.*figure.field >= 0) || std::isinf(machine.*figure.field))
      throw std::invalid_argument("parameter '" + figure.name.str() +
                                  "': required: a number of 0 or more");
  }
  for (auto &[name, value] : given.items())
    if (!known.contains(name))
      throw std::invalid_argument("parameter '" + name + "' is unknown");
}

} // namespace

Machine scaleToVectorWidth(const Profile &profile, int64_t vectorBits) {
  Machine machine = profile.machine;
  if (vectorBits != profile.vectorBits)
    for (const CostParameter &figure : getCostParameters())
      if (figure.scale == ParameterScaling::Products)
        machine.*figure.field *= double(vectorBits) / double(profile.vectorBits);
  return machine;
}

std::optional<Profile> parseProfile(const std::string &text, std::string &error) {
  try {
    Json json = Json::parse(text);
    if (!json.is_object() || !json.contains(kKind))
      throw std::invalid_argument("required: a machine profile, written by dlc tune --machine");
    if (json.at(kKind) != kVersion)
      throw std::invalid_argument("has version " + json.at(kKind).dump() +
                                  "; required: " + std::to_string(kVersion) +
                                  "; run dlc tune --machine to measure again");
    Profile profile;
    profile.name = json.at("name");
    profile.processor = json.at("processor");
    profile.cpus = json.at("cpus");
    profile.vectorBits = json.at("vector");
    profile.tiles = json.at("matrixUnits");
    profile.measured = json.value("measured", "");
    readCostParameters(json.at("figures"), profile.machine);
    for (const Json &each : json.at("samples")) {
      CostSample sample{each.at(0), each.at(1), each.at(2), each.at(3)};
      profile.corrections.add(sample);
      profile.samples.push_back(std::move(sample));
    }
    if (profile.vectorBits < 64)
      throw std::invalid_argument("vector: required: at least 64 bits");
    return profile;
  } catch (const std::exception &problem) {
    error = problem.what();
    return std::nullopt;
  }
}

std::string formatProfile(const Profile &profile) {
  auto word = [](const auto &value) { return Json(value).dump(); };
  std::string text =
      "{" + word(kKind) + ": " + std::to_string(kVersion) + ",\n \"name\": " + word(profile.name) +
      ",\n \"processor\": " + word(profile.processor) + ",\n \"cpus\": " + word(profile.cpus) +
      ",\n \"vector\": " + word(profile.vectorBits) + ",\n \"matrixUnits\": " + word(profile.tiles);
  if (!profile.measured.empty())
    text += ",\n \"measured\": " + word(profile.measured);
  text += ",\n \"figures\": {";
  const char *between = "\n  ";
  for (const CostParameter &figure : getCostParameters()) {
    text += between + word(figure.name.str()) + ": " +
            word(roundToDigits(profile.machine.*figure.field, 4));
    between = ",\n  ";
  }
  text += "},\n \"samples\": [";
  between = "\n  ";
  for (const CostSample &sample : profile.samples) {
    Json sizes = Json::array();
    for (double size : sample.sizes)
      sizes.push_back(roundToDigits(size, 4));
    text += between +
            Json::array({sample.implementation, sample.kind, sizes, roundToDigits(sample.error, 3)})
                .dump();
    between = ",\n  ";
  }
  return text + "]}\n";
}

} // namespace dlc

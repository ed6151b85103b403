//===- Rope.cpp - frequencies of rotary embeddings ------------------------===//
#include "frontend/gguf/Rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dlc::gguf {

using runtime::MetaValue;
using runtime::ModelTable;
using runtime::ModelTensor;

std::vector<double> ropeFrequencies(double base, int64_t rotated) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < rotated / 2; ++i)
    frequencies.push_back(std::pow(base, -2.0 * double(i) / double(rotated)));
  return frequencies;
}

void divideFrequencies(std::vector<double> &frequencies, const std::vector<double> &divisors) {
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] /= divisors[i];
}

void applyYarn(std::vector<double> &frequencies, double base, const Yarn &yarn) {
  double rotated = 2 * double(frequencies.size());
  // Returns the fractional index of the pair that completes this number of rotations within the
  // original context.
  auto pairOf = [&](double rotations) {
    return rotated * std::log(yarn.originalContext / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(base));
  };
  double low = std::max(0.0, std::floor(pairOf(yarn.betaFast)));
  double high = std::min(rotated - 1, std::ceil(pairOf(yarn.betaSlow)));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double ramp = std::clamp((double(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
    frequencies[i] *= ramp / yarn.factor + (1 - ramp);
  }
}

void applyLlama3(std::vector<double> &frequencies, double factor, double low, double high,
                 double originalContext) {
  for (double &frequency : frequencies) {
    double rotations = originalContext * frequency / (2 * std::numbers::pi);
    double unscaled = std::clamp((rotations - low) / (high - low), 0.0, 1.0);
    frequency *= (1 - unscaled) / factor + unscaled;
  }
}

double yarnMagnitude(double factor) { return factor <= 1 ? 1 : 0.1 * std::log(factor) + 1; }

Rope makeRope(const std::vector<double> &frequencies, double magnitude) {
  return {{frequencies.begin(), frequencies.end()}, magnitude};
}

namespace {

constexpr double maxBase = 1e12, maxFactor = 1e6;

/// Returns the frequency divisors that a tensor stores, one per pair; an empty list if the tensor
/// is missing.
std::vector<double> readDivisorTensor(const ModelTable &table, const std::string &name,
                                      int64_t pairs) {
  const ModelTensor *tensor = table.findTensor(name);
  if (!tensor)
    return {};
  if (tensor->format != runtime::BlockFormat::F32 || tensor->shape != std::vector<int64_t>{pairs})
    table.fail("tensor '" + name + "': required: F32 with " + std::to_string(pairs) +
               " elements; found another type or shape");
  std::vector<float> values(static_cast<size_t>(pairs));
  runtime::dequantize(tensor->format, tensor->data.data, uint64_t(pairs), values.data());
  for (float value : values)
    if (!(value > 0) || !std::isfinite(value))
      table.fail("tensor '" + name +
                 "': required: positive elements; found: " + std::to_string(value));
  return {values.begin(), values.end()};
}

/// Returns the frequency divisors that a metadata list stores, one per pair.
std::vector<double> readDivisorList(const ModelTable &table, const std::string &key, size_t pairs) {
  const MetaValue *value = table.find(key);
  if (!value || !value->isList || value->size() != pairs)
    table.fail("metadata key '" + key + "': required: a list of " + std::to_string(pairs) +
               " numbers; found another value");
  std::vector<double> divisors;
  for (uint64_t i = 0; i < pairs; ++i) {
    divisors.push_back(value->real(i));
    if (!(divisors.back() > 0) || !std::isfinite(divisors.back()))
      table.fail("metadata key '" + key + "': required: positive numbers; found another value");
  }
  return divisors;
}

[[noreturn]] void failScaling(const ModelTable &table, const std::string &key,
                              const std::string &type, const std::string &known) {
  table.fail("metadata key '" + key + "': required: one of " + known + "; found: '" + type + "'");
}

} // namespace

Rope readGgufRope(const ModelTable &table, const std::string &prefix, int64_t rotated,
                  int64_t capacity, bool isLocal) {
  const std::string rope = prefix + "rope.", scaling = rope + "scaling.";
  double base = table.real(rope + "freq_base", 1, maxBase, 10000);
  if (isLocal) {
    base = table.real(rope + "freq_base_swa", 1, maxBase, 10000);
    return makeRope(ropeFrequencies(base, rotated), 1);
  }
  std::vector<double> frequencies = ropeFrequencies(base, rotated);
  const int64_t context = table.integer(prefix + "context_length", 1, maxContext);
  const int64_t original =
      table.integer(scaling + "original_context_length", 0, maxContext, context);
  // Older converters write `rope.scale_linear` instead of `rope.scaling.factor`.
  const double factor = table.real(scaling + "factor", 0, maxFactor,
                                   table.real(rope + "scale_linear", 0, maxFactor, 1));
  const double magnitude = table.real(scaling + "attn_factor", 0, maxFactor, 1);
  const std::string type = table.string(scaling + "type", "linear");
  if (table.real(scaling + "yarn_log_multiplier", -maxFactor, maxFactor, 0) != 0)
    table.fail("metadata key '" + scaling + "yarn_log_multiplier' is not supported");
  // As in llama.cpp, `rope_freqs.weight` has precedence over the factors of longrope.
  std::vector<double> divisors = readDivisorTensor(table, "rope_freqs.weight", rotated / 2);
  if (divisors.empty())
    divisors = readDivisorTensor(
        table, capacity > original ? "rope_factors_long.weight" : "rope_factors_short.weight",
        rotated / 2);
  if (!divisors.empty())
    divideFrequencies(frequencies, divisors);
  if (type == "none" || type == "longrope" || factor == 0 || factor == 1)
    return makeRope(frequencies, magnitude);
  if (type == "linear") {
    divideFrequencies(frequencies, std::vector<double>(frequencies.size(), factor));
    return makeRope(frequencies, magnitude);
  }
  if (type != "yarn")
    failScaling(table, scaling + "type", type, "none, linear, yarn, longrope");
  applyYarn(frequencies, base,
            {factor, double(std::max<int64_t>(original, 1)),
             table.real(scaling + "yarn_beta_fast", 0.001, maxFactor, 32),
             table.real(scaling + "yarn_beta_slow", 0.001, maxFactor, 1)});
  return makeRope(frequencies, magnitude * yarnMagnitude(factor));
}

Rope readHuggingFaceRope(const ModelTable &table, const DecoderConfig &config, int64_t capacity,
                         bool isLocal) {
  const auto context = double(config.context);
  // transformers 5 stores all RoPE parameters in one object, or in one object per layer type. Older
  // versions store them in top-level keys and in `rope_scaling`.
  std::string object = "rope_parameters.";
  if (table.find(object + "full_attention.rope_theta"))
    object += isLocal ? "sliding_attention." : "full_attention.";
  const bool isCurrent = table.find(object + "rope_theta");
  if (!isCurrent)
    object = "rope_scaling.";
  double base = isCurrent ? table.real(object + "rope_theta", 1, maxBase)
                          : table.real("rope_theta", 1, maxBase, config.family->ropeBase);
  if (!isCurrent && isLocal)
    base = table.real("rope_local_base_freq", 1, maxBase, 10000);
  double part = isCurrent ? table.real(object + "partial_rotary_factor", 0, 1, 1)
                          : table.real("partial_rotary_factor", 0, 1, 1);
  std::vector<double> frequencies =
      ropeFrequencies(base, int64_t(part * double(config.headSize)) / 2 * 2);
  std::string type = table.string(object + "rope_type", table.string(object + "type", "default"));
  if (type == "default" || (!isCurrent && isLocal))
    return makeRope(frequencies, 1);
  const double original =
      table.real(object + "original_max_position_embeddings", 1, 1e12,
                 table.real("original_max_position_embeddings", 1, 1e12, context));
  if (type == "longrope" || type == "su") {
    divideFrequencies(
        frequencies,
        readDivisorList(table,
                        object + (double(capacity) > original ? "long_factor" : "short_factor"),
                        frequencies.size()));
    double factor = context / original;
    double magnitude =
        factor <= 1 || original <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
    return makeRope(frequencies, table.real(object + "attention_factor", 0, maxFactor, magnitude));
  }
  const double factor = table.real(object + "factor", 0.001, maxFactor);
  if (type == "linear") {
    divideFrequencies(frequencies, std::vector<double>(frequencies.size(), factor));
    return makeRope(frequencies, 1);
  }
  if (type == "llama3") {
    const double low = table.real(object + "low_freq_factor", 0, maxFactor);
    applyLlama3(frequencies, factor, low,
                table.real(object + "high_freq_factor", low + 0.001, 2 * maxFactor), original);
    return makeRope(frequencies, 1);
  }
  if (type != "yarn")
    failScaling(table, object + "rope_type", type, "default, linear, llama3, longrope, yarn");
  if (table.find(object + "mscale") || table.find(object + "mscale_all_dim"))
    table.fail("metadata key '" + object + "mscale' is not supported");
  if (!table.boolean(object + "truncate", true))
    table.fail("metadata key '" + object + "truncate': required: true; found: false");
  applyYarn(frequencies, base,
            {factor, original, table.real(object + "beta_fast", 0.001, maxFactor, 32),
             table.real(object + "beta_slow", 0.001, maxFactor, 1)});
  return makeRope(frequencies,
                  table.real(object + "attention_factor", 0, maxFactor, yarnMagnitude(factor)));
}

} // namespace dlc::gguf

//===- Rope.h - frequencies of rotary embeddings --------------------------===//
#ifndef DLC_FRONTEND_GGUF_ROPE_H
#define DLC_FRONTEND_GGUF_ROPE_H

#include "frontend/gguf/Config.h"

namespace dlc::gguf {

/// Parameters of YaRN (arXiv 2309.00071): low frequencies are divided by `factor`, high ones are
/// not, and frequencies between these ranges are interpolated.
struct Yarn {
  double factor = 1, originalContext = 0, betaFast = 32, betaSlow = 1;
};

/// Returns base^(-2 i / rotated) for each pair i.
std::vector<double> ropeFrequencies(double base, int64_t rotated);
/// Divides each frequency by its divisor. The lists must have the same length.
void divideFrequencies(std::vector<double> &frequencies, const std::vector<double> &divisors);
/// Applies YaRN to frequencies that ropeFrequencies() returned for `base`.
void applyYarn(std::vector<double> &frequencies, double base, const Yarn &yarn);
/// Applies Llama 3's scaling: frequencies of wavelengths above `originalContext / low` are divided
/// by `factor`, those below `originalContext / high` are not, and those between are interpolated.
void applyLlama3(std::vector<double> &frequencies, double factor, double low, double high,
                 double originalContext);
/// Returns the magnitude of YaRN for a scaling factor: 0.1 ln(factor) + 1, or 1 for factors up
/// to 1.
double yarnMagnitude(double factor);
/// Returns a Rope with the frequencies rounded to f32.
Rope makeRope(const std::vector<double> &frequencies, double magnitude);

/// Reads the RoPE parameters of a layer from the metadata of a GGUF file, whose keys begin with
/// `prefix`. `rotated` is the number of elements of a head that are rotated.
/// `isLocal`: the layer has a sliding window and its own base (Family::localRope).
Rope readGgufRope(const runtime::ModelTable &table, const std::string &prefix, int64_t rotated,
                  int64_t capacity, bool isLocal);
/// Reads the RoPE parameters of a layer from a config.json. Uses the family, the context length and
/// the head size of `config`.
Rope readHuggingFaceRope(const runtime::ModelTable &table, const DecoderConfig &config,
                         int64_t capacity, bool isLocal);

} // namespace dlc::gguf

#endif // DLC_FRONTEND_GGUF_ROPE_H

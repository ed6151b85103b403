//===- JsonSteps.h - normalizers, pre-tokenizers and decoders of tokenizer.json ===//
#ifndef DLC_RUNTIME_TEXT_JSONSTEPS_H
#define DLC_RUNTIME_TEXT_JSONSTEPS_H

#include "dlc/text.hpp"

#include <nlohmann/json.hpp>

namespace dlc::text::json {

using Json = nlohmann::json;

/// Throws dlc::Error for a value that is not supported. `required` lists the supported values.
[[noreturn]] void refuse(const std::string &what, const std::string &found,
                         const std::string &required);
/// Returns the first 100 bytes of the JSON text of a value, for messages.
std::string shown(const Json &value);
/// Throws dlc::Error if JSON text is nested too deeply for a recursive parser.
void checkDepth(std::string_view text, const char *file);

// Typed access to members. They throw dlc::Error for missing members and other types.
const Json &object(const Json &from, const char *key);
const Json &array(const Json &from, const char *key);
std::string string(const Json &from, const char *key);
/// Returns a null pointer if the member is missing or null.
const Json *optional(const Json &from, const char *key);
/// These return `otherwise` if the member is missing or null.
std::string string(const Json &from, const char *key, const char *otherwise);
bool flag(const Json &from, const char *key, bool otherwise);
size_t count(const Json &from, const char *key, size_t otherwise);
/// Returns a number, such as a token id, that is less than the maximum size of a vocabulary.
size_t index(const Json &value, const char *what);

// Append the steps of a normalizer or pre-tokenizer, or set the fields of a decoder.
void readNormalizer(const Json &step, TokenizerData &data);
void readSplits(const Json &step, TokenizerData &data);
void readDecoder(const Json &step, TokenizerData &data);

} // namespace dlc::text::json

#endif // DLC_RUNTIME_TEXT_JSONSTEPS_H

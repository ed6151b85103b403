//===- LanguageModel.h - runs a decoder with a cache, token by token ------===//
#ifndef DLC_TOOLS_COMPILER_LANGUAGEMODEL_H
#define DLC_TOOLS_COMPILER_LANGUAGEMODEL_H

#include "codegen/Pipeline.h"
#include "runtime/program/models/ModelTable.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// Options of LanguageModel.
struct LanguageModelOptions {
  /// Number of positions of the cache. 0: the model's context length, at most 4,096.
  int64_t capacity = 0;
  /// Number of tokens of the prompt that one step computes.
  int64_t promptStep = 32;
};

/// A decoder from a GGUF file or a Hugging Face folder. One program computes steps of several
/// tokens and one computes single tokens; both share the cache. The constructor and append() throw
/// dlc::Error.
class LanguageModel {
public:
  LanguageModel(const std::string &path, const LanguageModelOptions &options,
                const CompileOptions &compileOptions);

  /// Returns the maximum number of tokens in the cache.
  int64_t capacity() const { return cacheCapacity; }
  /// Returns the number of tokens of the vocabulary.
  int64_t vocabulary() const { return int64_t(row.size()); }
  /// Returns the number of tokens in the cache.
  int64_t length() const { return position; }
  /// Returns the ids of the end tokens (EOS, EOT, EOM) of the model.
  const std::set<int64_t> &endTokens() const { return ends; }

  /// Appends tokens to the sequence and returns the logits of the last one, which are valid until
  /// the next call.
  std::span<const float> append(std::span<const int64_t> ids);

private:
  /// A compiled program for steps of `tokens` tokens.
  struct Step {
    int64_t tokens = 0;
    std::shared_ptr<runtime::Session> session;
  };
  /// Compiles the program of a step, whose session shares the states of `cache` if it is not null.
  Step compileStep(int64_t tokens, const runtime::Session *cache);
  /// Runs a step with `ids`. If the step has more tokens, the others are padding, whose cache rows
  /// the next steps overwrite.
  void run(const Step &step, std::span<const int64_t> ids);

  runtime::ModelTable table;
  CompileOptions options;
  int64_t cacheCapacity = 0, position = 0;
  std::set<int64_t> ends;
  Step single, prompt;
  std::vector<float> row;
  std::vector<int64_t> padded;
};

/// Returns the index of the largest logit; the first one if several are equal. Throws dlc::Error if
/// a logit is NaN.
int64_t largestLogit(std::span<const float> logits);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_LANGUAGEMODEL_H

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

struct LanguageModelOptions {
  /// Number of positions of the cache. 0: the model's context length, at most 4,096.
  int64_t capacity = 0;
  /// Number of tokens of a step that reads a prompt.
  int64_t promptStep = 32;
};

/// A decoder from a GGUF file or a Hugging Face folder: one program for steps of several tokens and
/// one for single tokens, which share the cache. All members throw dlc::Error.
class LanguageModel {
public:
  LanguageModel(const std::string &path, const LanguageModelOptions &options,
                const CompileOptions &compileOptions);

  int64_t capacity() const { return cacheCapacity; }
  int64_t vocabulary() const { return int64_t(row.size()); }
  /// Returns the number of tokens in the cache.
  int64_t length() const { return position; }
  /// Returns the tokens that end a text.
  const std::set<int64_t> &endTokens() const { return ends; }

  /// Appends tokens to the sequence and returns the logits of the last one, which are valid until
  /// the next call.
  std::span<const float> append(std::span<const int64_t> ids);

private:
  struct Step {
    int64_t tokens = 0;
    std::shared_ptr<runtime::Session> session;
  };
  Step compileStep(int64_t tokens, const runtime::Session *cache);
  /// Runs a step of `valid` tokens. Further tokens of the step are padding, whose cache rows the
  /// next steps overwrite.
  void run(const Step &step, std::span<const int64_t> ids);

  runtime::ModelTable table;
  CompileOptions options;
  int64_t cacheCapacity = 0, position = 0;
  std::set<int64_t> ends;
  Step single, prompt;
  std::vector<float> row;
  std::vector<int64_t> padded;
};

/// Returns the index of the largest logit; of equal ones, the first.
int64_t largestLogit(std::span<const float> logits);

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_LANGUAGEMODEL_H

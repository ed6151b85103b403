//===- LanguageModel.cpp - runs a decoder with a cache, token by token ----===//
#include "tools/compiler/LanguageModel.h"

#include "dlc/Error.h"
#include "frontend/gguf/Config.h"
#include "frontend/gguf/Decoder.h"
#include "frontend/gguf/Import.h"
#include "tools/compiler/Diagnostics.h"
#include "tools/compiler/Programs.h"
#include "tools/compiler/Source.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace dlc {

/// Returns the ids of the end tokens that the metadata names. As in transformers, those of
/// generation_config.json replace those of config.json. Ids outside the vocabulary are ignored.
static std::set<int64_t> readEndTokens(const runtime::ModelTable &table, int64_t vocabulary) {
  const char *generation = "generation_config.eos_token_id";
  std::set<int64_t> ends;
  for (const char *key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id",
        table.find(generation) ? generation : "eos_token_id"})
    if (const runtime::MetaValue *value = table.find(key))
      for (uint64_t i = 0; i < value->size(); ++i)
        if (std::optional<int64_t> id = value->integer(i); id && *id >= 0 && *id < vocabulary)
          ends.insert(*id);
  return ends;
}

LanguageModel::LanguageModel(const std::string &path, const LanguageModelOptions &given,
                             const CompileOptions &compileOptions)
    : table(readLanguageModel(path)), options(compileOptions) {
  const int64_t context = gguf::readContextLength(table);
  cacheCapacity = given.capacity ? given.capacity : std::min(context, kDefaultCacheCapacity);
  if (cacheCapacity < 1 || cacheCapacity > context)
    table.fail(
        "required: a context from 1 to " + std::to_string(context) +
        " tokens, the length that the model supports; found: " + std::to_string(cacheCapacity));
  single = compileStep(1, nullptr);
  const int64_t step = std::min(given.promptStep, cacheCapacity);
  prompt = step > 1 ? compileStep(step, single.session.get()) : single;
  const auto &outputs = single.session->plan().outputs;
  row.resize(outputs[0].bytes / sizeof(float));
  ends = readEndTokens(table, vocabulary());
}

LanguageModel::Step LanguageModel::compileStep(int64_t tokens, const runtime::Session *cache) {
  auto context = std::make_shared<MLIRContext>();
  prepareContext(*context);
  OwningOpRef<ModuleOp> module;
  {
    DiagnosticCollector diagnostics(*context);
    gguf::DecoderOptions decoder{tokens, cacheCapacity, /*oneRow=*/true};
    FailureOr<OwningOpRef<ModuleOp>> built = gguf::buildDecoder(*context, table, decoder);
    if (failed(built))
      throw Error(diagnostics.take(table.path + ": cannot be imported"));
    module = std::move(*built);
  }
  Source source(table.path, context, std::move(module));
  std::set<std::string> bound;
  std::shared_ptr<runtime::Program> program =
      compileSource(source, source.complete({}), {}, options, bound);
  runtime::SessionOptions session;
  session.threads = options.threads;
  session.shareState = cache;
  return {tokens, std::make_shared<runtime::Session>(program, session)};
}

void LanguageModel::run(const Step &step, std::span<const int64_t> ids) {
  padded.assign(ids.begin(), ids.end());
  padded.resize(size_t(step.tokens), ids.back());
  const auto last = int64_t(ids.size()) - 1;
  std::vector<const void *> inputs;
  for (const runtime::TensorInfo &input : step.session->plan().inputs)
    inputs.push_back(input.name == gguf::kIdsName        ? padded.data()
                     : input.name == gguf::kPositionName ? &position
                                                         : &last);
  void *output = row.data();
  step.session->run(inputs, std::span(&output, 1));
  position += int64_t(ids.size());
}

std::span<const float> LanguageModel::append(std::span<const int64_t> ids) {
  if (ids.empty())
    throw Error("required: at least one token; found none; give a prompt");
  for (int64_t id : ids)
    if (id < 0 || id >= vocabulary())
      throw Error("required: tokens from 0 to " + std::to_string(vocabulary() - 1) +
                  ", the vocabulary of the model; found: " + std::to_string(id));
  if (int64_t(ids.size()) > cacheCapacity - position)
    throw Error("the context of " + std::to_string(cacheCapacity) +
                " tokens is full; required: capacity for " +
                std::to_string(position + int64_t(ids.size())) +
                "; give a larger --context, or a shorter prompt");
  while (!ids.empty()) {
    // A padded step must end inside the cache.
    const bool isShort = ids.size() == 1 || position + prompt.tokens > cacheCapacity;
    const Step &step = isShort ? single : prompt;
    size_t count = std::min(ids.size(), size_t(step.tokens));
    run(step, ids.first(count));
    ids = ids.subspan(count);
  }
  return row;
}

int64_t largestLogit(std::span<const float> logits) {
  auto nan = std::find_if(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
  if (nan != logits.end())
    throw Error("required: logits that are numbers; found: NaN for token " +
                std::to_string(nan - logits.begin()) +
                "; check the weights of the model, or specify --accuracy strict");
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

} // namespace dlc

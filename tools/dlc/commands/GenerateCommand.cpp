//===- GenerateCommand.cpp - dlc generate: continues a sequence of tokens -===//
#include "tools/dlc/Options.h"
#include "tools/dlc/commands/Elapsed.h"

#include "dlc/Error.h"
#include "runtime/program/arrays/Npy.h"
#include "tools/compiler/LanguageModel.h"

#include <charconv>
#include <cstdio>
#include <optional>

namespace dlc::cli {
namespace {

/// Parses token ids such as "1,2,3".
std::vector<int64_t> parseIds(const std::string &text) {
  std::vector<int64_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int64_t id = 0;
    auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next < end && *next != ','))
      throw Error("--ids: required: token ids separated by commas, such as 1,2,3; found: '" + text +
                  "'");
    ids.push_back(id);
    at = next + 1;
  }
  if (ids.empty() || text.back() == ',')
    throw Error("--ids: required: at least one token id, such as 1,2,3; found: '" + text + "'");
  return ids;
}

} // namespace

int generateCommand(const GenerateArguments &arguments) {
  std::vector<int64_t> prompt = parseIds(arguments.ids);
  LanguageModel model(arguments.model, {arguments.context, arguments.promptStep},
                      arguments.options);
  std::optional<runtime::NpyRows> rows;
  if (!arguments.logits.empty())
    rows.emplace(arguments.logits, DType::F32, model.vocabulary());
  auto start = Clock::now();
  std::span<const float> logits = model.append(prompt);
  const double promptSeconds = secondsSince(start);
  start = Clock::now();
  int64_t count = 0, steps = 0;
  bool isFull = false;
  while (count < arguments.maxTokens) {
    if (rows)
      rows->append(logits.data());
    int64_t id = largestLogit(logits);
    if (model.endTokens().count(id) && !arguments.ignoreEnd)
      break;
    std::printf(count ? " %lld" : "%lld", static_cast<long long>(id));
    std::fflush(stdout);
    ++count;
    if (count == arguments.maxTokens)
      break;
    isFull = model.length() == model.capacity();
    if (isFull)
      break;
    logits = model.append(std::span(&id, 1));
    ++steps;
  }
  std::printf("\n");
  std::fflush(stdout);
  const double seconds = secondsSince(start);
  if (rows)
    rows->commit();
  if (isFull)
    std::fprintf(stderr, "dlc: the context of %lld tokens is full\n",
                 static_cast<long long>(model.capacity()));
  std::fprintf(stderr, "prompt: %zu tokens, %.1f tokens/s; answer: %lld tokens, %.1f tokens/s\n",
               prompt.size(), double(prompt.size()) / promptSeconds, static_cast<long long>(count),
               steps ? double(steps) / seconds : 0.0);
  return 0;
}

} // namespace dlc::cli

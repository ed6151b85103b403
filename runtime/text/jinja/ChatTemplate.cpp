//===- ChatTemplate.cpp - renders chat templates into pieces --------------------===//
#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Parser.h"

namespace dlc::text {

struct ChatTemplate::State {
  jinja::NodePtr root;
  TemplateLimits limits;
};

ChatTemplate::ChatTemplate(std::string_view source, TemplateLimits limits)
    : state(std::make_unique<State>(State{jinja::parseTemplate(source), limits})) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;

std::vector<Piece> ChatTemplate::render(std::string_view input, std::string_view trusted) const {
  jinja::Dict variables = jinja::fromJson(input, true, "the input of the chat template");
  jinja::Dict special = jinja::fromJson(trusted, false, "the trusted input of the chat template");
  for (const auto &[name, value] : special.members())
    variables.set(name, value);
  jinja::Text text = jinja::Interpreter(state->limits, variables).run(*state->root);
  std::vector<Piece> pieces;
  for (size_t begin = 0; begin < text.bytes.size();) {
    size_t end = begin;
    while (end < text.bytes.size() && text.untrusted(end) == text.untrusted(begin))
      ++end;
    pieces.push_back({text.bytes.substr(begin, end - begin), !text.untrusted(begin)});
    begin = end;
  }
  return pieces;
}

} // namespace dlc::text

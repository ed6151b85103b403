//===- Convolution.cpp - parsed description of a convolution --------------===//
#include "runtime/library/describe/Convolution.h"

#include "runtime/epilogue/EpilogueTable.h"

namespace dlc::describe {

using simd::EpilogueStep;

static EpilogueStep readEpilogueStep(const Fields &fields) {
  static constexpr std::pair<const char *, EpilogueStep::Kind> withOperand[] = {
      {"add", EpilogueStep::AddTensor},
      {"add_channels", EpilogueStep::AddChannels},
      {"multiply_channels", EpilogueStep::MultiplyChannels}};
  std::string wanted = fields.word("do");
  for (auto [name, kind] : withOperand)
    if (wanted == name)
      return {.kind = kind};
  if (auto activation = parseActivation(wanted))
    return {.activation = *activation,
            .alpha =
                activationParameter(*activation, fields.number("alpha", infoOf(*activation).alpha)),
            .beta =
                activationParameter(*activation, fields.number("beta", infoOf(*activation).beta))};
  fields.complain("an epilogue op must be {\"do\": an activation, add, add_channels or "
                  "multiply_channels, ..}; found: '",
                  wanted, "'");
}

Convolution Convolution::read(const Fields &fields, const Window::Words &words, const char *dst) {
  Convolution c;
  static_cast<SlidingWindow &>(c) = SlidingWindow::read(fields, words, dst);
  c.groups = fields.integer("groups", 1, kMaxSize, 1);
  if (c.channels % c.groups || c.features % c.groups)
    fields.complain("groups must divide the input and output channels; found: ", c.groups);
  __int128 weights = __int128(c.features) * (c.channels / c.groups) * c.window.taps();
  if (weights > kMaxSize)
    fields.complain(runtime::formatList(c.window.sizes), " weights for ", c.channels, " and ",
                    c.features, " channels are too many");
  c.channelsLast = fields.flag("channels_last");
  c.isTransposed = fields.flag("turned");
  c.isPacked = fields.flag("packed") || fields.word("weights") == "packed";
  c.hasBias = fields.flag("bias");
  for (const Fields &step : fields.list("steps", 16))
    c.steps.push_back(readEpilogueStep(step));
  return c;
}

void Convolution::check(BufferChecker &given, int64_t weightElements) const {
  given.need("src", sourceElements(), sizeof(float));
  given.need("weights", weightElements, sizeof(float));
  if (hasBias)
    given.need("bias", features, sizeof(float));
  for (const EpilogueStep &step : steps)
    if (step.kind >= EpilogueStep::AddTensor)
      given.need("operand", step.kind == EpilogueStep::AddTensor ? resultElements() : features,
                 sizeof(float));
  given.need("dst", resultElements(), sizeof(float), true);
}

} // namespace dlc::describe

//===- Convolution.cpp - parsed description of a convolution --------------===//
#include "runtime/library/describe/Convolution.h"

#include "runtime/epilogue/ConvertOps.h"
#include "runtime/epilogue/EpilogueTable.h"

namespace dlc::describe {

using simd::EpilogueStep;

static EpilogueStep parseStep(const schema::ConvolutionStep &step) {
  using Op = schema::ConvolutionStepOp;
  if (auto activation = activationOf(step.op))
    return {.activation = *activation,
            .alpha =
                activationParameter(*activation, step.alpha.value_or(infoOf(*activation).alpha)),
            .beta = activationParameter(*activation, step.beta.value_or(infoOf(*activation).beta))};
  return {.kind = step.op == Op::AddTensor     ? EpilogueStep::AddTensor
                  : step.op == Op::AddChannels ? EpilogueStep::AddChannels
                                               : EpilogueStep::MultiplyChannels};
}

std::vector<EpilogueStep> parseSteps(const std::vector<schema::ConvolutionStep> &steps) {
  std::vector<EpilogueStep> parsed;
  for (const schema::ConvolutionStep &step : steps)
    parsed.push_back(parseStep(step));
  return parsed;
}

Convolution::Convolution(const schema::Record &fields, SlidingWindow images, int64_t groups)
    : SlidingWindow(std::move(images)), groups(groups) {
  if (channels % groups || features % groups)
    fields.complain("groups must divide the input and output channels; found: ", groups);
  __int128 weights = __int128(features) * (channels / groups) * window.taps();
  if (weights > schema::kMaxSize)
    fields.complain(runtime::formatList(window.sizes), " weights for ", channels, " and ", features,
                    " channels are too many");
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

//===- BlockFormat.cpp - storage formats of the weights of language models ---===//
#include "runtime/program/models/BlockFormat.h"

#include <algorithm>
#include <iterator>

namespace dlc::runtime {

namespace {

constexpr BlockFormatInfo formats[] = {
    {BlockFormat::F32, "F32", 0, 1, 4},
    {BlockFormat::F16, "F16", 1, 1, 2},
    {BlockFormat::BF16, "BF16", 30, 1, 2},
    {BlockFormat::Q4_0, "Q4_0", 2, 32, 18},
    {BlockFormat::Q4_1, "Q4_1", 3, 32, 20},
    {BlockFormat::Q5_0, "Q5_0", 6, 32, 22},
    {BlockFormat::Q5_1, "Q5_1", 7, 32, 24},
    {BlockFormat::Q8_0, "Q8_0", 8, 32, 34},
    {BlockFormat::Q2_K, "Q2_K", 10, 256, 84},
    {BlockFormat::Q3_K, "Q3_K", 11, 256, 110},
    {BlockFormat::Q4_K, "Q4_K", 12, 256, 144},
    {BlockFormat::Q5_K, "Q5_K", 13, 256, 176},
    {BlockFormat::Q6_K, "Q6_K", 14, 256, 210},
    {BlockFormat::IQ4_NL, "IQ4_NL", 20, 32, 18},
    {BlockFormat::IQ4_XS, "IQ4_XS", 23, 256, 136},
    {BlockFormat::MXFP4, "MXFP4", 39, 32, 17},
};

struct NumberedName {
  uint32_t ggufType;
  std::string_view name;
};
/// Names of GGUF formats that dlc does not support, for error messages.
constexpr NumberedName unsupported[] = {
    {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
    {19, "IQ1_S"}, {21, "IQ3_S"}, {22, "IQ2_S"},   {24, "I8"},     {25, "I16"},
    {26, "I32"},   {27, "I64"},   {28, "F64"},     {29, "IQ1_M"},  {34, "TQ1_0"},
    {35, "TQ2_0"}, {40, "NVFP4"}, {41, "Q1_0"},    {42, "Q2_0"},
};

} // namespace

std::span<const BlockFormatInfo> blockFormats() { return formats; }

const BlockFormatInfo *findBlockFormat(uint32_t ggufType) {
  const auto *row = std::find_if(std::begin(formats), std::end(formats),
                                 [&](const BlockFormatInfo &f) { return f.ggufType == ggufType; });
  return row == std::end(formats) ? nullptr : row;
}

std::string_view ggufTypeName(uint32_t ggufType) {
  if (const BlockFormatInfo *known = findBlockFormat(ggufType))
    return known->name;
  for (const NumberedName &row : unsupported)
    if (row.ggufType == ggufType)
      return row.name;
  return "?";
}

} // namespace dlc::runtime

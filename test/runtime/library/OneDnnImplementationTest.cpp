//===- OneDnnImplementationTest.cpp - properties of oneDNN implementations ===//
#include "OneDnnHelp.h"

using namespace dlc;
using namespace dlc::test;
using onednn::parseImplementation;

namespace {

TEST(OneDnn, PropertiesOfImplementations) {
  EXPECT_TRUE(parseImplementation("gemm:jit:f32").isGemm);
  EXPECT_TRUE(parseImplementation("onednn:x64:gemm:jit").isGemm);
  EXPECT_FALSE(parseImplementation("gemm:jit:f32").isIntegerGemm);
  EXPECT_TRUE(parseImplementation("x64:gemm_s8u8s32:jit").isIntegerGemm);
  EXPECT_FALSE(parseImplementation("x64:gemm_s8u8s32:jit").isGemm);
  EXPECT_FALSE(parseImplementation("brg_conv_fwd:avx512_core").isGemm);
  EXPECT_TRUE(parseImplementation("brg_conv_fwd:avx512_core").isBrgemm);
  EXPECT_TRUE(parseImplementation("ref:any").isReference);
  EXPECT_TRUE(parseImplementation("jit:avx2#2").isRepeated);
  EXPECT_FALSE(parseImplementation("jit:avx2").isRepeated);
}

TEST(OneDnn, DescriptionsHaveThePropertiesOfTheirImplementation) {
  const json desc = {{"kind", "matmul"},
                     {"src", layout({8, 16}, "ab")},
                     {"weights", layout({16, 4}, "ab")},
                     {"dst", layout({8, 4}, "ab")}};
  const auto all = onednn::describeAll(desc, 2);
  ASSERT_FALSE(all.empty());
  for (const OperationDescription &described : all) {
    const auto parsed = parseImplementation(described.implementation);
    EXPECT_EQ(described.properties.isReference, parsed.isReference) << described.implementation;
    EXPECT_EQ(described.properties.isGemm, parsed.isGemm) << described.implementation;
  }
  EXPECT_TRUE(all.back().properties.isReference) << all.back().implementation;
}

} // namespace

//===- StructuralKeyTest.cpp - structural keys of operations with equal candidates -===//
#include "codegen/providers/StructuralKey.h"
#include "codegen/options/Context.h"
#include "codegen/providers/Provider.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace dlc {
namespace {

struct StructuralKeys : testing::Test {
  StructuralKeys() { prepareContext(context); }

  /// Returns the key of a fusion in a function, preceded by the lines `before`. `x` is an operand.
  StructuralKey of(const std::string &before, const std::string &body,
                   const std::string &type = "tensor<1x4xf32>") {
    std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n" + before +
                       "\n%y = dlc.fusion(%a = %x, %b = %w) : (" + type + ", tensor<4xf32>) -> " +
                       type + " {\n" + body + "\ndlc.yield %r : " + type +
                       "\n}\nreturn %y : " + type + "\n}";
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    if (!modules.back())
      return {};
    StructuralKey form;
    modules.back()->walk([&](FusionOp fusion) { form = computeStructuralKey(fusion); });
    EXPECT_FALSE(form.empty());
    return form;
  }

  static std::string weights(const std::string &values) {
    return "%w = dlc.constant dense<" + values + "> : tensor<4xf32>";
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
  const std::string sum =
      "%r = dlc.add %a, %b : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>";
};

TEST_F(StructuralKeys, NamesPlacesAndWeightsDoNotMatter) {
  StructuralKey form = of(weights("[1.0, 2.0, 3.0, 4.0]"), sum);
  EXPECT_EQ(form, of(weights("[5.0, 2.0, 3.0, 4.0]"), sum));
  EXPECT_EQ(form, of("%other = dlc.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>\n" +
                         weights("[1.0, 2.0, 3.0, 4.0]"),
                     sum + " loc(\"here\")"));
}

TEST_F(StructuralKeys, WhatCandidatesDependOnDoes) {
  std::string values = weights("[1.0, 2.0, 3.0, 4.0]");
  std::vector<StructuralKey> forms = {
      of(values, sum),
      // A splat constant.
      of(weights("1.0"), sum), of(weights("2.0"), sum),
      // Not a constant.
      of("%v = dlc.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
         "%w = dlc.exp %v : (tensor<4xf32>) -> tensor<4xf32>",
         sum),
      // A different operation, operand or type.
      of(values, "%r = dlc.mul %a, %b : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>"),
      of(values, "%r = dlc.add %a, %a : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>"),
      of(values, "%r = dlc.add %b, %a : (tensor<4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>"),
      of(values, "%r = dlc.add %a, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>",
         "tensor<2x4xf32>"),
      // Different attributes, and different constants in the body.
      of(values, "%r = dlc.add %a, %b {dlc.math = \"bf16\"} : (tensor<1x4xf32>, tensor<4xf32>) "
                 "-> tensor<1x4xf32>"),
      of(values, "%c = dlc.constant dense<3.0> : tensor<4xf32>\n"
                 "%r = dlc.add %a, %c : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>"),
      of(values, "%c = dlc.constant dense<4.0> : tensor<4xf32>\n"
                 "%r = dlc.add %a, %c : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>")};
  for (size_t i = 0; i < forms.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(forms[i], forms[j]) << i << " and " << j;
}

/// Sizes of layouts that passes use are computed without libraries and must equal those of
/// libraries.
TEST_F(StructuralKeys, StorageIsWhatTheLibrarySays) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{2, 20, 5, 7}, {1, 32, 1, 1}, {3, 1, 4, 4}})
    for (StringRef layout : {"acdb", "aBcd16b", "Acdb16a", "bcda"})
      for (Type element : {Type(Float32Type::get(&context)), Type(BFloat16Type::get(&context)),
                           Type(IntegerType::get(&context, 8))}) {
        auto type = RankedTensorType::get(shape, element,
                                          OnAttr::fromName(&context, "cpu")->withLayout(layout));
        for (const Provider *provider : providers())
          if (auto bytes = provider->layoutBytes(type))
            EXPECT_EQ(storageBytes(type), *bytes) << provider->about.name.str() << layout.str();
      }
}

} // namespace
} // namespace dlc

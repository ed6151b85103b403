//===- DescribeTest.cpp - descriptions of operations that no library supports --------===//
#include "Calls.h"

#include "runtime/library/describe/Attention.h"
#include "runtime/library/describe/Convolution.h"
#include "runtime/library/describe/Product.h"

#include <gmock/gmock.h>

using namespace dlc;
using namespace dlc::describe;
using dlc::test::json;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename Read> std::string refusal(const Read &read) {
  try {
    read();
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

const json kImages = {{"src", {2, 8, 9, 7}}, {"dst", {2, 6, 5, 4}}};

/// Returns the window over kImages in the spelling with "window" or with "kernel".
SlidingWindow readOwn(const json &desc) {
  const auto fields = schema::TilesConvolution::read(desc, "test");
  SlidingWindow s = SlidingWindow::of(fields, fields.src, fields.dst);
  s.slide(fields, Window::of(fields, s.rank()));
  return s;
}
SlidingWindow readKernel(const json &desc) {
  return SlidingWindow::of(schema::ImageWindowFields::read(desc, "test"));
}

json ownImages() {
  json desc = kImages;
  desc.update({{"kind", "convolution"}, {"parts", 2}, {"weights", "plain"}, {"transposed", false}});
  desc["post_ops"] = json::array();
  return desc;
}

TEST(Describe, WindowsInEachSpelling) {
  json own = ownImages(), theirs = kImages;
  own.update({{"window", {3, 2}}, {"strides", {2, 2}}, {"dilations", {1, 3}}, {"pads", {1, -1}}});
  theirs.update({{"kernel", {3, 2}},
                 {"strides", {2, 2}},
                 {"dilations", {0, 2}},
                 {"pads_l", {1, -1}},
                 {"pads_r", {0, 4}}});
  auto check = [](const SlidingWindow &s) {
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.channels, 8);
    EXPECT_EQ(s.features, 6);
    EXPECT_THAT(s.src, ElementsAre(9, 7));
    EXPECT_THAT(s.dst, ElementsAre(5, 4));
    EXPECT_THAT(s.window.sizes, ElementsAre(3, 2));
    EXPECT_THAT(s.window.strides, ElementsAre(2, 2));
    EXPECT_THAT(s.window.dilations, ElementsAre(1, 3));
    EXPECT_THAT(s.window.low, ElementsAre(1, -1));
    EXPECT_FALSE(s.isPoint());
    return s.window.high;
  };
  EXPECT_THAT(check(readOwn(own)), ElementsAre(0, 0));
  EXPECT_THAT(check(readKernel(theirs)), ElementsAre(0, 4));
  EXPECT_EQ(schema::TilesConvolution::read(own, "test").toJson(), own);
  EXPECT_EQ(schema::ImageWindowFields::read(theirs, "test").toJson(), theirs);
}

TEST(Describe, WhatIsLeftOutIsDense) {
  json desc = {{"src", {1, 4, 5, 6, 7}}, {"dst", {1, 4, 5, 6, 7}}, {"kernel", {1, 1, 1}}};
  SlidingWindow s = readKernel(desc);
  EXPECT_THAT(s.window.sizes, ElementsAre(1, 1, 1));
  EXPECT_THAT(s.window.dilations, ElementsAre(1, 1, 1));
  EXPECT_TRUE(s.isPoint());
  EXPECT_EQ(s.sourceElements(), 4 * 5 * 6 * 7);
}

TEST(Describe, WrongWindows) {
  auto with = [](const char *name, json value) {
    json desc = kImages;
    desc["kernel"] = {1, 1};
    desc[name] = std::move(value);
    return refusal([&] { readKernel(desc); });
  };
  EXPECT_EQ(with("strides", {1, 1}), "accepted");
  EXPECT_EQ(with("strides", {0, 1}),
            "test: 'strides' must be 2 integers from 1 to 2147483647; found: [0,1]");
  EXPECT_THAT(with("kernel", {1}), HasSubstr("'kernel' must be 2 integers"));
  EXPECT_THAT(with("kernel", nullptr), HasSubstr("'kernel' must be a list"));
  EXPECT_THAT(with("kernel", {1 << 30, 1 << 30}), HasSubstr("is too large"));
  EXPECT_THAT(with("dilations", {-1, 0}), HasSubstr("'dilations' must be"));
  EXPECT_THAT(with("pads_l", {1.5, 0}), HasSubstr("'pads_l' must be"));
  EXPECT_THAT(with("src", {3, 8, 9, 7}), HasSubstr("of the same batch size"));
  EXPECT_THAT(with("src", {2, 8, -9, 7}), HasSubstr("'src' must be 4 integers"));
  EXPECT_EQ(with("dst", {2, 1, int64_t(1) << 36, 1}), "accepted");
  EXPECT_EQ(with("src", {2, 8, 0, 7}), "accepted");
  json empty = ownImages();
  empty.update({{"src", {2, 8, 0, 7}}, {"window", {1, 1}}});
  EXPECT_THAT(refusal([&] { readOwn(empty); }), HasSubstr("'src' must be 4 integers from 1 to"));
  json far = {{"src", {1, 1, 1}},
              {"dst", {1, 1, int64_t(1) << 36}},
              {"kernel", {1}},
              {"strides", {1 << 30}}};
  EXPECT_THAT(refusal([&] { readKernel(far); }), HasSubstr("the extent of its windows overflows"));
}

TEST(Describe, Convolutions) {
  json desc = kImages;
  desc.update({{"kind", "conv_weight_grad"}, {"dtype", "f32"}, {"kernel", {3, 3}}, {"groups", 2}});
  auto read = [&] {
    const auto fields = schema::ConvWeightGrad::read(desc, "test");
    return Convolution(fields, SlidingWindow::of(fields), fields.groups);
  };
  Convolution c = read();
  EXPECT_EQ(c.weightElements(), 6 * 4 * 9);
  c.hasBias = true;
  const json steps = {{{"do", "relu"}, {"alpha", 0.5}}, {{"do", "add"}}};
  c.steps = parseSteps(schema::readList<schema::ConvolutionStep>(steps, "test"));
  ASSERT_EQ(c.steps.size(), 2u);
  EXPECT_EQ(c.steps[0].alpha, 0.5f);
  uint64_t src = 2 * 8 * 63 * 4, dst = 2 * 6 * 20 * 4;
  auto check = [&](std::vector<runtime::BufferInfo> buffers) {
    return refusal([&] {
      BufferChecker given(buffers, "test");
      c.check(given, c.weightElements());
      given.end();
    });
  };
  std::vector<runtime::BufferInfo> fits = {
      {src, false}, {864, false}, {24, false}, {dst, false}, {dst, true}};
  EXPECT_EQ(check(fits), "accepted");
  for (size_t i = 0; i < fits.size(); ++i) {
    auto small = fits;
    --small[i].bytes;
    EXPECT_THAT(check(small), HasSubstr("test: buffer " + std::to_string(i)));
  }
  fits.push_back({4, true});
  EXPECT_THAT(check(fits), HasSubstr("required: 5 buffers; found: 6"));
  desc["groups"] = 3;
  EXPECT_THAT(refusal(read), HasSubstr("groups must divide"));
  desc["groups"] = 1;
  desc["kernel"] = {1 << 20, 1 << 20};
  EXPECT_THAT(refusal(read), HasSubstr("are too many"));
}

TEST(Describe, BuffersOfProducts) {
  json desc = {{"kind", "product"},
               {"batch", {3}},
               {"m", 2},
               {"n", 4},
               {"k", 5},
               {"a", {100, 10, 1}},
               {"b", {0, 4, 1}},
               {"dst", {8, 4, 1}},
               {"bias", true},
               {"scale", 0.5},
               {"post_ops", json::array()}};
  desc["post_ops"].push_back({{"kind", "binary"}, {"alg", "add"}, {"strides", {0, 0, 1}}});
  MatmulDesc p = MatmulDesc::of(schema::Product::read(desc, "test"));
  EXPECT_EQ(p.posts.epilogue.scale, 0.5f);
  EXPECT_FALSE(p.addsUp());
  auto check = [&](std::vector<runtime::BufferInfo> buffers) {
    return refusal([&] {
      BufferChecker given(buffers, "test");
      p.check(given, 0);
    });
  };
  std::vector<runtime::BufferInfo> fits = {
      {215 * 4, false}, {20 * 4, false}, {16, false}, {24 * 4, true}, {16, false}};
  EXPECT_EQ(check(fits), "accepted");
  for (size_t i = 0; i < fits.size(); ++i) {
    auto small = fits;
    --small[i].bytes;
    EXPECT_THAT(check(small), HasSubstr("test: buffer " + std::to_string(i)));
  }
}

TEST(Describe, NumbersThatDoNotFit) {
  const json good = {{"kind", "topk"}, {"dtype", "f32"}, {"outer", 1},
                     {"len", 4},       {"inner", 1},     {"k", 2}};
  auto with = [&](const char *name, json value) {
    json desc = good;
    desc[name] = std::move(value);
    return refusal([&] { schema::TopK::read(desc, "test"); });
  };
  EXPECT_EQ(with("len", 5), "accepted");
  EXPECT_THAT(with("k", UINT64_MAX), HasSubstr("found: 18446744073709551615"));
  EXPECT_THAT(with("k", 2.5), HasSubstr("found: 2.5"));
  EXPECT_THAT(with("k", nullptr), HasSubstr("found: nothing"));
  EXPECT_THAT(with("kind", 3), HasSubstr("'kind' must be a string"));
  EXPECT_THAT(with("dtype", 3), HasSubstr("'dtype' must be a string"));
  EXPECT_THAT(refusal([&] { schema::TopK::read(json(3), "test"); }),
              HasSubstr("required: an object"));
  EXPECT_THAT(refusal([&] {
                computeExtent(std::vector<int64_t>{int64_t(1) << 40},
                              std::vector<int64_t>{1 << 30});
              }),
              HasSubstr("exceed the address range"));
}

} // namespace

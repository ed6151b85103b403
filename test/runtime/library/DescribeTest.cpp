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

TEST(Describe, WindowsInEachSpelling) {
  json own = kImages, theirs = kImages;
  own.update({{"window", {3, 2}}, {"strides", {2, 2}}, {"dilations", {1, 3}}, {"pads", {1, -1}}});
  theirs.update({{"kernel", {3, 2}},
                 {"strides", {2, 2}},
                 {"dilations", {0, 2}},
                 {"pads_l", {1, -1}},
                 {"pads_r", {0, 4}}});
  auto check = [](const json &desc, const Window::Words &words) {
    SlidingWindow s = SlidingWindow::read(Fields(desc, "test"), words);
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
    json again;
    s.write(again, words);
    EXPECT_EQ(again, desc);
    return s;
  };
  EXPECT_THAT(check(own, kWindowWords).window.high, ElementsAre(0, 0));
  EXPECT_THAT(check(theirs, kKernelWords).window.high, ElementsAre(0, 4));
}

TEST(Describe, WhatIsLeftOutIsDense) {
  json desc = {{"src", {1, 4, 5, 6, 7}}, {"dst", {1, 4, 5, 6, 7}}, {"window", 1}};
  SlidingWindow s = SlidingWindow::read(Fields(desc, "test"), kWindowWords);
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
    return refusal([&] { SlidingWindow::read(Fields(desc, "test"), kKernelWords); });
  };
  EXPECT_EQ(with("strides", {1, 1}), "accepted");
  EXPECT_EQ(with("strides", {0, 1}),
            "test: 'strides' must be 2 integers from 1 to 2147483647; found: [0,1]");
  EXPECT_THAT(with("kernel", {1}), HasSubstr("'kernel' must be 2 integers"));
  EXPECT_THAT(with("kernel", nullptr), HasSubstr("'kernel' is missing"));
  EXPECT_THAT(with("kernel", {1 << 30, 1 << 30}), HasSubstr("is too large"));
  EXPECT_THAT(with("dilations", {-1, 0}), HasSubstr("'dilations' must be"));
  EXPECT_THAT(with("pads_l", {1.5, 0}), HasSubstr("'pads_l' must be"));
  EXPECT_THAT(with("src", {3, 8, 9, 7}), HasSubstr("of the same batch size"));
  EXPECT_THAT(with("src", {2, 8, -9, 7}), HasSubstr("'src' must be 4 integers"));
  EXPECT_EQ(with("dst", {2, 1, int64_t(1) << 36, 1}), "accepted");
  EXPECT_EQ(with("src", {2, 8, 0, 7}), "accepted");
  json empty = {{"src", {2, 8, 0, 7}}, {"dst", {2, 6, 5, 4}}, {"window", {1, 1}}};
  EXPECT_THAT(refusal([&] { SlidingWindow::read(Fields(empty, "test"), kWindowWords); }),
              HasSubstr("'src' must be 4 integers from 1 to"));
  json far = {{"src", {1, 1, 1}},
              {"dst", {1, 1, int64_t(1) << 36}},
              {"kernel", {1}},
              {"strides", {1 << 30}}};
  EXPECT_THAT(refusal([&] { SlidingWindow::read(Fields(far, "test"), kKernelWords); }),
              HasSubstr("the extent of its windows overflows"));
}

TEST(Describe, Convolutions) {
  json desc = kImages;
  desc.update({{"window", {3, 3}}, {"groups", 2}, {"bias", true}, {"packed", true}});
  desc["steps"] = {{{"do", "relu"}, {"alpha", 0.5}}, {{"do", "add"}}};
  auto read = [&] { return Convolution::read(Fields(desc, "test"), kWindowWords); };
  Convolution c = read();
  EXPECT_EQ(c.weightElements(), 6 * 4 * 9);
  EXPECT_TRUE(c.isPacked && c.hasBias && !c.isTransposed);
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
  desc["window"] = {1 << 20, 1 << 20};
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
  MatmulDesc p = MatmulDesc::read(Fields(desc, "test"));
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
  json desc = {{"size", UINT64_MAX}, {"real", 2.5}, {"word", 3}};
  Fields fields(desc, "test");
  EXPECT_THAT(refusal([&] { fields.size("size"); }), HasSubstr("found: 18446744073709551615"));
  EXPECT_THAT(refusal([&] { fields.size("real"); }), HasSubstr("found: 2.5"));
  EXPECT_THAT(refusal([&] { fields.size("none"); }), HasSubstr("found: nothing"));
  EXPECT_THAT(refusal([&] { fields.word("word"); }), HasSubstr("'word' must be a string"));
  EXPECT_THAT(refusal([&] { fields.dtype("word"); }), HasSubstr("'word' must be a string"));
  EXPECT_THAT(refusal([&] { Fields(json(3), "test"); }), HasSubstr("required: an object"));
  EXPECT_THAT(refusal([&] {
                computeExtent(std::vector<int64_t>{int64_t(1) << 40},
                              std::vector<int64_t>{1 << 30});
              }),
              HasSubstr("exceed the address range"));
}

} // namespace

//===- DatasetTest.cpp - datasets of arrays, slices and functions -------------===//
#include "test/runtime/Sample.h"

#include "dlc/data.hpp"
#include "runtime/program/arrays/Npy.h"

using namespace dlc;
using namespace dlc::data;
using dlc::test::TemporaryFolder;

static std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(Dataset, Arrays) {
  Tensor x = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  Tensor t = Tensor::of<int64_t>({3}, {7, 8, 9});
  Dataset data = arrays(x, t);
  EXPECT_EQ(data.size(), 3);
  ASSERT_EQ(data.fields().size(), 2u);
  EXPECT_EQ(data.fields()[0].name, "x");
  EXPECT_EQ(data.fields()[0].shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(data.fields()[1].name, "target");
  EXPECT_EQ(data.fields()[1].dtype, DType::I64);
  Sample sample = data[2];
  EXPECT_EQ(sample[0].data<float>()[1], 6);
  EXPECT_EQ(*sample[1].data<int64_t>(), 9);
  Dataset slice = data.slice(1, 3);
  EXPECT_EQ(slice.size(), 2);
  EXPECT_EQ(*slice[0][1].data<int64_t>(), 8);
  EXPECT_EQ(*slice.slice(1, 2)[0][1].data<int64_t>(), 9);

  int64_t count = 0;
  for (auto [a, b] : loader(data, {.batch = 2})) {
    EXPECT_EQ(a.shape(), (std::vector<int64_t>{count == 0 ? 2 : 1, 2}));
    EXPECT_EQ(b.shape(), (std::vector<int64_t>{count == 0 ? 2 : 1}));
    EXPECT_EQ(b.data<int64_t>()[0], 7 + 2 * count);
    ++count;
  }
  EXPECT_EQ(count, 2);
}

TEST(Dataset, ArraysErrors) {
  Tensor x(DType::F32, {3, 2}), t(DType::I64, {4}), scalar(DType::F32, {});
  EXPECT_EQ(errorOf([&] { arrays(x, t); }),
            "the arrays must have the same number of samples; 'x' has 3 and 'target' has 4");
  EXPECT_NE(errorOf([&] { arrays({{"s", scalar}}); }).find("'s' is 0-d"), std::string::npos);
  EXPECT_NE(errorOf([&] { arrays(NamedTensors{}); }).find("at least one"), std::string::npos);
  Dataset data = arrays({{"x", x}});
  EXPECT_EQ(errorOf([&] { data[3]; }), "required: a sample index from 0 to 2; found: 3");
  EXPECT_THROW(data[-1], Error);
  EXPECT_THROW(data.slice(2, 1), Error);
  EXPECT_THROW(data.slice(0, 4), Error);
}

TEST(Dataset, NpyFiles) {
  TemporaryFolder folder;
  float x[] = {1, 2, 3, 4};
  uint8_t t[] = {5, 6};
  runtime::writeNpy(folder / "x.npy", DType::F32, {2, 2}, x);
  runtime::writeNpy(folder / "t.npy", DType::U8, {2}, t);
  Dataset data = npy({{"x", folder / "x.npy"}, {"target", folder / "t.npy"}});
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data[1][0].data<float>()[0], 3);
  EXPECT_EQ(*data[1][1].data<uint8_t>(), 6);
  EXPECT_EQ(readNpy(folder / "x.npy").data<float>()[3], 4);
  EXPECT_THROW(npy({{"x", folder / "none.npy"}}), Error);
}

TEST(Dataset, Functions) {
  Dataset data = function(4, [](int64_t i) {
    return Sample{Tensor::of<float>({2}, {float(i), float(-i)}), Tensor::of<int32_t>({}, {int(i)}),
                  Tensor::of<uint8_t>({0}, {})};
  });
  ASSERT_EQ(data.fields().size(), 3u);
  EXPECT_EQ(data.fields()[2].name, "field2");
  EXPECT_EQ(data[3][0].data<float>()[1], -3);
  int64_t batches = 0;
  for (auto [x, t, empty] : loader<3>(data, {.batch = 4, .workers = 2})) {
    EXPECT_EQ(x.data<float>()[7], -3);
    EXPECT_EQ(t.data<int32_t>()[3], 3);
    EXPECT_EQ(empty.bytes(), 0u);
    ++batches;
  }
  EXPECT_EQ(batches, 1);
  EXPECT_THROW(function(0, [](int64_t) { return Sample(); }), Error);
  Dataset ragged = function(2, [](int64_t i) { return Sample{Tensor(DType::F32, {i + 1})}; });
  EXPECT_EQ(errorOf([&] { ragged[1]; }),
            "field 'x': required: f32[1]; found: f32[2]; all samples must have one type and shape");
}

//===- GroupedTest.cpp - grouped matmuls on AMX tiles and in vectors -------------------===//
#include "ProductsSample.h"

#include "runtime/library/products/Grouped.h"
#include "runtime/library/tiles/Describe.h"
#include "runtime/library/vectors/Describe.h"
#include "runtime/program/Numeric.h"
#include <gmock/gmock.h>

using namespace dlc;
using namespace dlc::test;

namespace {

/// A kernel: on tiles with `parts` bf16 parts, in vectors of `lanes` elements, or the scalar
/// kernel.
struct How {
  int parts = 0;
  int64_t lanes = 0;

  bool isHere() const { return parts ? tiles::isAvailable() : vectors::lanes() >= lanes; }
  const char *library() const { return parts ? "tiles" : lanes ? "vectors" : "builtin"; }
  products::KernelConfig form() const {
    return parts ? tiles::makeKernelConfig(parts) : vectors::makeGroupedConfig(lanes);
  }
  json describe(const char *kind) const {
    json desc = {{"kind", kind}};
    if (parts)
      desc["parts"] = parts;
    else if (lanes)
      desc["lanes"] = lanes;
    return desc;
  }
};

struct Size {
  int64_t rows, k, n;
  std::vector<int64_t> ends;
  int64_t groups() const { return int64_t(ends.size()); }
  std::vector<int64_t> borders() const {
    std::vector<int64_t> found = {0};
    for (int64_t end : ends)
      found.push_back(std::clamp(end, found.back(), rows));
    return found;
  }
};

using Bytes = std::vector<char>;

Bytes bytesOf(const std::vector<float> &values, bool isNarrow) {
  Bytes bytes(values.size() * (isNarrow ? 2 : 4));
  for (size_t i = 0; i < values.size(); ++i)
    if (isNarrow) {
      uint16_t bits = runtime::BFloat16::from(values[i]).bits;
      std::memcpy(&bytes[2 * i], &bits, 2);
    } else {
      std::memcpy(&bytes[4 * i], &values[i], 4);
    }
  return bytes;
}

/// Converts the bytes to values. bf16 elements were rounded before.
std::vector<double> numbersOf(const Bytes &bytes, bool isNarrow) {
  const size_t size = isNarrow ? 2 : 4;
  std::vector<double> numbers(bytes.size() / size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t word = 0;
    std::memcpy(reinterpret_cast<char *>(&word) + 4 - size, &bytes[i * size], size);
    numbers[i] = double(runtime::bitsToFloat(word));
  }
  return numbers;
}

enum class OperandLayout { Rows, Columns, Packed };

struct Call {
  How how;
  Size s;
  bool isNarrow, isWideIndex;
  int threads;

  Bytes run(const char *kind, const Bytes &a, const void *right, uint64_t rightBytes,
            int64_t results, const json &more = json::object()) const {
    json desc = how.describe(kind);
    desc.update(json{{"rows", s.rows},
                     {"groups", s.groups()},
                     {"k", s.k},
                     {"n", s.n},
                     {"dtype", isNarrow ? "bf16" : "f32"},
                     {"index", isWideIndex ? "i64" : "i32"}});
    desc.update(more);
    std::vector<int32_t> narrowEnds(s.ends.begin(), s.ends.end());
    Bytes y(size_t(results * (isNarrow ? 2 : 4)), char(0xff));
    const void *ends = isWideIndex ? static_cast<const void *>(s.ends.data()) : narrowEnds.data();
    Runnable call(how.library(), desc,
                  {{a.size(), false},
                   {rightBytes, false},
                   {s.ends.size() * (isWideIndex ? 8 : 4), false},
                   {y.size(), true}},
                  threads);
    void *buffers[] = {const_cast<char *>(a.data()), const_cast<void *>(right),
                       const_cast<void *>(ends), y.data()};
    call.run(buffers);
    return y;
  }
};

/// Largest error against f64, relative to the sum of the magnitudes of the terms.
struct Worst {
  double error = 0;
  bool isNarrow;

  void take(double got, double sum, double size) {
    double allowed = isNarrow ? std::fabs(sum) * 0x1p-8 : 0;
    double difference = std::max(0.0, std::fabs(got - sum) - allowed);
    error = std::isnan(got) ? HUGE_VAL : std::max(error, size > 0 ? difference / size : difference);
  }
};

double productError(const Call &call, OperandLayout layout) {
  const Size &s = call.s;
  Bytes a = bytesOf(random(s.rows * s.k, 1), call.isNarrow),
        b = bytesOf(random(s.groups() * s.k * s.n, 2), call.isNarrow);
  const json more = {{"b", layout == OperandLayout::Rows      ? "rows"
                           : layout == OperandLayout::Columns ? "columns"
                                                              : "packed"}};
  const products::KernelConfig form =
      layout == OperandLayout::Packed ? call.how.form() : products::KernelConfig();
  Aligned packed(layout == OperandLayout::Packed ? uint64_t(s.groups()) * form.packedBytes(s.k, s.n)
                                                 : 0);
  if (layout == OperandLayout::Packed) {
    products::packMatrices(form, b.data(), call.isNarrow ? DType::BF16 : DType::F32, false,
                           s.groups(), s.k, s.n, packed.data.get());
    EXPECT_FALSE(packed.isOverrun());
  }
  const Bytes y =
      layout == OperandLayout::Packed
          ? call.run("grouped_product", a, packed.data.get(), packed.bytes, s.rows * s.n, more)
          : call.run("grouped_product", a, b.data(), b.size(), s.rows * s.n, more);
  const auto left = numbersOf(a, call.isNarrow), right = numbersOf(b, call.isNarrow),
             got = numbersOf(y, call.isNarrow);
  Worst worst{.isNarrow = call.isNarrow};
  std::vector<int64_t> borders = s.borders();
  for (int64_t row = 0; row < s.rows; ++row) {
    int64_t group = std::upper_bound(borders.begin(), borders.end(), row) - borders.begin() - 1;
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0, size = 0;
      for (int64_t p = 0; p < s.k && row < borders.back(); ++p) {
        int64_t place =
            group * s.k * s.n + (layout == OperandLayout::Columns ? j * s.k + p : p * s.n + j);
        double term = left[size_t(row * s.k + p)] * right[size_t(place)];
        sum += term;
        size += std::fabs(term);
      }
      worst.take(got[size_t(row * s.n + j)], sum, size);
    }
  }
  return worst.error;
}

double gradientError(const Call &call) {
  const Size &s = call.s;
  Bytes a = bytesOf(random(s.rows * s.k, 1), call.isNarrow),
        dy = bytesOf(random(s.rows * s.n, 2), call.isNarrow);
  Bytes y = call.run("grouped_gradient", a, dy.data(), dy.size(), s.groups() * s.k * s.n);
  const auto left = numbersOf(a, call.isNarrow), right = numbersOf(dy, call.isNarrow),
             got = numbersOf(y, call.isNarrow);
  Worst worst{.isNarrow = call.isNarrow};
  std::vector<int64_t> borders = s.borders();
  for (int64_t group = 0; group < s.groups(); ++group)
    for (int64_t p = 0; p < s.k; ++p)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0, size = 0;
        for (int64_t row = borders[size_t(group)]; row < borders[size_t(group) + 1]; ++row) {
          double term = left[size_t(row * s.k + p)] * right[size_t(row * s.n + j)];
          sum += term;
          size += std::fabs(term);
        }
        worst.take(got[size_t((group * s.k + p) * s.n + j)], sum, size);
      }
  return worst.error;
}

/// All rows in one group, empty groups, one row in each group, more rows than a block, and ends
/// outside of the valid range.
const Size kSizes[] = {{1, 1, 1, {1}},
                       {5, 3, 2, {5, 5, 5}},
                       {6, 40, 33, {0, 6, 6}},
                       {7, 33, 40, {1, 2, 3, 4, 5, 6, 7}},
                       {20, 16, 16, {-3, 9, 4, 100}},
                       {33, 64, 70, {17, 33}},
                       {90, 96, 64, {3, 20, 20, 37, 88}},
                       {29, 70, 97, {15, 28}},
                       {300, 50, 30, {7, 7, 100, 131, 290}},
                       {70, 1100, 40, {3, 70}},
                       {40, 20, 2100, {40, 40}},
                       {0, 4, 5, {0, 0}}};

class Groups : public testing::TestWithParam<How> {
protected:
  void SetUp() override {
    if (!GetParam().isHere())
      GTEST_SKIP() << "this processor does not have the instructions";
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, Groups,
                         testing::Values(How{1, 0}, How{2, 0}, How{3, 0}, How{0, 16}, How{0, 8},
                                         How{0, 0}),
                         [](const auto &form) {
                           return form.param.parts   ? "Tiles" + std::to_string(form.param.parts)
                                  : form.param.lanes ? "Vectors" + std::to_string(form.param.lanes)
                                                     : std::string("Plain");
                         });

template <typename Check> void forEachCall(How how, const Check &check) {
  for (const Size &size : kSizes)
    for (bool isNarrow : {false, true}) {
      // One part is for bf16 operands, several parts are for f32.
      if (how.parts && isNarrow != (how.parts == 1))
        continue;
      for (int threads : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << size.rows << "x" << size.k << "x" << size.n << " in " << size.ends.size()
                     << (isNarrow ? " bf16" : " f32") << " " << threads << " threads");
        // With few terms the errors of the omitted products of two parts do not average out.
        const double bound = how.parts == 2 ? 0x1p-14 : 0x1p-20;
        check(Call{how, size, isNarrow, threads == 1, threads}, bound);
      }
    }
}

TEST_P(Groups, EachRowMeetsItsMatrix) {
  forEachCall(GetParam(), [](const Call &call, double bound) {
    for (OperandLayout layout :
         {OperandLayout::Rows, OperandLayout::Columns, OperandLayout::Packed}) {
      if (layout == OperandLayout::Packed && (!call.how.parts && !call.how.lanes))
        continue;
      EXPECT_LT(productError(call, layout), bound) << "lies " << int(layout);
    }
  });
}

TEST_P(Groups, AGradientIsTheSumOfItsRows) {
  forEachCall(GetParam(),
              [](const Call &call, double bound) { EXPECT_LT(gradientError(call), bound); });
}

/// A large left operand is packed in several rounds, and so is a deep contraction.
TEST_P(Groups, ManyRowsComeInRounds) {
  if (!GetParam().parts && !GetParam().lanes)
    GTEST_SKIP() << "row by row";
  const bool isNarrow = GetParam().parts == 1;
  const Size tall{17000, 1024, 1, {100, 16900, 16900, 16999}};
  EXPECT_LT(productError({GetParam(), tall, isNarrow, true, 2}, OperandLayout::Rows), 0x1p-14);
  EXPECT_LT(gradientError({GetParam(), tall, isNarrow, true, 2}), 0x1p-14);
}

TEST(GroupsRefusals, SayWhatIsWrong) {
  std::string error;
  json desc = {{"kind", "grouped_product"},
               {"rows", 4},
               {"groups", 2},
               {"k", 3},
               {"n", 5},
               {"dtype", "f32"},
               {"index", "i32"},
               {"b", "rows"}};
  auto refusal = [&](const char *library, const json &change, uint64_t bBytes = 120) {
    json changed = desc;
    changed.update(change);
    auto made = Runnable::create(library, changed,
                                 {{48, false}, {bBytes, false}, {8, false}, {80, true}}, 1, error);
    return made ? "" : error;
  };
  EXPECT_EQ(refusal("builtin", json::object()), "");
  EXPECT_THAT(refusal("builtin", {{"b", "packed"}}), testing::HasSubstr("rows or columns"));
  EXPECT_THAT(refusal("builtin", {{"dtype", "i32"}}), testing::HasSubstr("floating-point"));
  EXPECT_THAT(refusal("builtin", {{"k", 1 << 30}, {"n", 1 << 30}}),
              testing::HasSubstr("the number of elements overflows"));
  EXPECT_THAT(refusal("builtin", json::object(), 119), testing::HasSubstr("b"));
  if (vectors::lanes() < 8)
    GTEST_SKIP() << "no vectors";
  EXPECT_EQ(refusal("vectors", {{"lanes", 8}}), "");
  EXPECT_THAT(refusal("vectors", {{"lanes", 8}, {"dtype", "f64"}}),
              testing::HasSubstr("operands of f32 or bf16"));
  EXPECT_THAT(refusal("vectors", {{"lanes", 8}, {"b", "across"}}),
              testing::HasSubstr("rows, columns or packed"));
  EXPECT_THAT(refusal("vectors", {{"lanes", 8}, {"k", 1 << 30}, {"n", 1 << 30}}),
              testing::HasSubstr("the number of elements overflows"));
}

} // namespace

//===- contract.cpp - compares generated matmul kernels with f64 sums ------===//
#include "test/codegen/ContractKernel.h"
#include "test/codegen/Targets.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

using namespace dlc;
using test::Product;

namespace {

size_t elementBytes(char type) {
  return type == 'd' ? 8 : type == 'f' || type == 'i' ? 4 : type == 'c' || type == 'u' ? 1 : 2;
}

float halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float magnitude = exponent ? std::ldexp(1024.0f + (bits & 1023), exponent - 25)
                             : std::ldexp(float(bits & 1023), -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// A buffer of elements of a type without padding, so that sanitizers detect reads past its end.
struct Buffer {
  char type;
  std::vector<char> bytes;
  Buffer(char type, size_t count, unsigned seed) : type(type), bytes(count * elementBytes(type)) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < count; ++i) {
      double v = static_cast<int>(random() % 2001) / 1000.0 - 1;
      if (type == 'f')
        set<float>(i, v);
      else if (type == 'd')
        set<double>(i, v);
      else if (type == 'c' || type == 'u')
        set<uint8_t>(i, random());
      else if (type == 'i')
        set<int32_t>(i, static_cast<int>(random() % 511) - 255);
      else if (type == 'b')
        set<uint16_t>(i, std::bit_cast<uint32_t>(static_cast<float>(v)) >> 16);
      else // 15 bits of sign, exponent 0.5 .. 2 and mantissa
        set<uint16_t>(i, (random() & 0x8000) | 0x3800 | (random() & 0x7ff));
    }
  }
  template <class T> void set(size_t i, T v) { reinterpret_cast<T *>(bytes.data())[i] = v; }
  double operator[](size_t i) const {
    switch (type) {
    case 'f':
      return reinterpret_cast<const float *>(bytes.data())[i];
    case 'd':
      return reinterpret_cast<const double *>(bytes.data())[i];
    case 'c':
      return reinterpret_cast<const int8_t *>(bytes.data())[i];
    case 'u':
      return reinterpret_cast<const uint8_t *>(bytes.data())[i];
    case 'i':
      return reinterpret_cast<const int32_t *>(bytes.data())[i];
    case 'b':
      return std::bit_cast<float>(uint32_t(reinterpret_cast<const uint16_t *>(bytes.data())[i])
                                  << 16);
    default:
      return halfToFloat(reinterpret_cast<const uint16_t *>(bytes.data())[i]);
    }
  }
};

template <class Sum> void check(const Product &p, const cpu::Target &target, int threads) {
  SCOPED_TRACE(testing::Message() << p.m << "x" << p.n << "x" << p.k << (p.transposeA ? " A^T" : "")
                                  << (p.transposeB ? " B^T" : "") << (p.packedB ? " packed" : "")
                                  << " " << p.typeA << p.typeB << " bits " << target.vectorBits);
  int64_t batches = 1, lastA = 0, lastB = 0, lastC = 0;
  for (const cpu::BatchDim &dim : p.batch) {
    batches *= dim.size;
    lastA += (dim.size - 1) * dim.strideA;
    lastB += (dim.size - 1) * dim.strideB;
    lastC += (dim.size - 1) * dim.strideC;
  }
  // The last row has no padding, so reading beyond its elements is out of bounds.
  Buffer a(p.typeA,
           lastA + ((p.transposeA ? p.k : p.m) - 1) * p.leadingA() + (p.transposeA ? p.m : p.k), 1);
  Buffer b(p.typeB,
           lastB + ((p.transposeB ? p.n : p.k) - 1) * p.leadingB() + (p.transposeB ? p.k : p.n), 2);
  Buffer bias(sizeof(Sum) == 8 ? 'd' : 'f', p.n, 3);
  const Sum untouched = 12345;
  std::vector<Sum> c(lastC + (p.m - 1) * p.leadingC() + p.n, untouched);

  test::ContractKernel kernel(p, target);
  auto packed = kernel.pack(a.bytes.data(), b.bytes.data());
  kernel(p.packedA ? packed.get() : a.bytes.data(), p.packedB ? packed.get() : b.bytes.data(),
         c.data(), bias.bytes.data(), threads);

  std::vector<bool> written(c.size());
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t atA = 0, atB = 0, atC = 0, rest = batch;
    for (size_t i = p.batch.size(); i-- > 0; rest /= p.batch[i].size) {
      int64_t index = rest % p.batch[i].size;
      atA += index * p.batch[i].strideA, atB += index * p.batch[i].strideB,
          atC += index * p.batch[i].strideC;
    }
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          double x =
              (a[atA + (p.transposeA ? k * p.leadingA() + m : m * p.leadingA() + k)] - p.zeroA) *
              (b[atB + (p.transposeB ? n * p.leadingB() + k : k * p.leadingB() + n)] - p.zeroB);
          sum += x;
          size += std::fabs(x);
        }
        if (p.biasAndRelu)
          sum = std::max(sum + bias[n], 0.0);
        int64_t at = atC + m * p.leadingC() + n;
        written[at] = true;
        // For integers the permitted error is 0.
        ASSERT_LE(std::fabs(c[at] - sum), (size + 1) * std::numeric_limits<Sum>::epsilon() * 8)
            << "at " << batch << ", " << m << ", " << n;
      }
  }
  for (size_t i = 0; i < c.size(); ++i)
    if (!written[i]) {
      ASSERT_EQ(c[i], untouched) << "outside of C at " << i;
    }
}

void check(Product p, int threads = 1) {
  for (const cpu::Target &target : test::targets()) {
    if (p.sumsIntegers() && !cpu::supportsIntegerMatmul(target))
      continue;
    if (p.sumsIntegers())
      check<int32_t>(p, target, threads);
    else if (p.typeA == 'd' || p.typeB == 'd')
      check<double>(p, target, threads);
    else
      check<float>(p, target, threads);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(Contract, ShapesOnEitherSideOfABlock) {
  for (int64_t m : {1, 3, 6, 7, 14, 15, 43})
    for (int64_t n : {1, 16, 33, 70})
      for (bool packed : {false, true})
        check({.m = m, .n = n, .k = 19, .packedB = packed});
}

TEST(Contract, DepthsOnEitherSideOfAnUnrolledStep) {
  for (int64_t k : {1, 2, 3, 4, 5, 7, 8, 16, 31})
    for (int64_t m : {1, 2, 4, 9, 31})
      check({.m = m, .n = 40, .k = k, .packedB = true});
}

TEST(Contract, TransposedAndPadded) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (bool packed : {false, true})
        for (int64_t m : {3, 45})
          check({.m = m,
                 .n = 37,
                 .k = 35,
                 .transposeA = ta,
                 .transposeB = tb,
                 .packedB = packed,
                 .padA = 3,
                 .padB = 5,
                 .padC = 7});
}

TEST(Contract, ElementTypes) {
  for (char type : {'b', 'h', 'd'})
    for (bool tb : {false, true})
      for (bool packed : {false, true})
        for (int64_t m : {1, 33})
          check({.m = m,
                 .n = 37,
                 .k = 35,
                 .transposeB = tb,
                 .packedB = packed,
                 .typeA = type,
                 .typeB = type});
  check({.m = 20, .n = 37, .k = 35, .transposeA = true, .typeA = 'b', .typeB = 'f'});
  check({.m = 20, .n = 37, .k = 35, .packedB = true, .typeA = 'f', .typeB = 'b'});
}

/// Integer sums are exact for all signs and zero points.
TEST(Contract, Integers) {
  if (llvm::none_of(test::targets(), cpu::supportsIntegerMatmul))
    GTEST_SKIP() << "no instructions for sums of integers";
  for (const char *types : {"uc", "cc", "uu", "cu"})
    for (bool packed : {false, true})
      for (bool tb : {false, true})
        for (int64_t k : {1, 35, 64})
          check({.m = 33,
                 .n = 37,
                 .k = k,
                 .transposeB = tb,
                 .packedB = packed,
                 .typeA = types[0],
                 .typeB = types[1],
                 .zeroA = types[0] == 'u' ? 255 : -128,
                 .zeroB = types[1] == 'u' ? 3 : 127,
                 .padA = 3,
                 .padB = 5,
                 .padC = 7});
  // A packed B and bytes that are adjacent along K: four products per instruction, if the processor
  // has it. The last group, the last vector of A and the last panel are incomplete.
  for (const char *types : {"uc", "cc", "uu", "cu"})
    for (int64_t m : {1, 5, 15})
      for (int64_t k : {3, 31, 66, 131})
        for (int32_t zero : {0, 100})
          check({.m = m,
                 .n = 150,
                 .k = k,
                 .packedB = true,
                 .typeA = types[0],
                 .typeB = types[1],
                 .zeroA = zero,
                 .zeroB = types[1] == 'u' ? zero : 0,
                 .padA = 1});
  for (int64_t m : {1, 2, 4, 7, 100})
    for (int64_t n : {1, 16, 70})
      check({.m = m, .n = n, .k = 5003, .packedB = true, .typeA = 'u', .typeB = 'c'}, 2);
  for (int64_t m : {20, 32, 100})
    for (int64_t k : {34, 35})
      check({.m = m, .n = 37, .k = k, .transposeA = true, .typeA = 'u', .typeB = 'c', .zeroA = 7},
            2);
  check({.m = 20, .n = 37, .k = 35, .packedB = true, .typeA = 'u', .typeB = 'i', .zeroA = 7});
  for (char type : {'c', 'u', 'i'})
    for (int64_t m : {1, 6, 43})
      check({.m = m, .n = 37, .k = 35, .packedA = true, .typeA = type, .typeB = 'u', .zeroB = 9},
            2);
  Product heads{.m = 21, .n = 19, .k = 16, .transposeB = true, .typeA = 'u', .typeB = 'c'};
  heads.padA = heads.padB = 48;
  heads.batch = {{2, 21 * 64, 19 * 64, 4 * 21 * 19}, {4, 16, 16, 21 * 19}};
  check(heads, 2);
}

TEST(Contract, Batches) {
  // Heads that are adjacent in the rows of attention's operands. Then B is shared along one batch
  // dimension, and along all.
  Product heads{.m = 21, .n = 19, .k = 16, .transposeB = true, .padA = 48, .padB = 48};
  heads.batch = {{2, 21 * 64, 19 * 64, 4 * 21 * 19}, {4, 16, 16, 21 * 19}};
  check(heads, 2);
  for (bool packed : {false, true}) {
    Product shared{.m = 21, .n = 19, .k = 16, .packedB = packed};
    shared.batch = {{2, 3 * 21 * 16, 16 * 19, 3 * 21 * 19}, {3, 21 * 16, 0, 21 * 19}};
    check(shared, 2);
    shared.batch = {{5, 21 * 16, 0, 21 * 19}};
    check(shared, 2);
  }
}

TEST(Contract, EpilogueSeesTheRightColumns) {
  for (int64_t m : {1, 33})
    for (int64_t n : {5, 64, 75})
      for (bool packed : {false, true})
        check({.m = m, .n = n, .k = 24, .packedB = packed, .padC = 3, .biasAndRelu = true});
}

TEST(Contract, DeepProductsAreSplit) {
  for (bool relu : {false, true})
    for (bool packed : {false, true})
      check({.m = 30, .n = 40, .k = 5003, .packedB = packed, .biasAndRelu = relu});
}

TEST(Contract, RowsThatCollideInCacheArePacked) {
  check({.m = 30, .n = 70, .k = 1024, .packedB = true});
  check({.m = 30, .n = 70, .k = 1021, .packedB = true, .padA = 3});
}

TEST(Contract, OneRowWalksLongRows) {
  check({.m = 1, .n = 700, .k = 203, .padB = 5, .biasAndRelu = true}, 2);
  check({.m = 1, .n = 40'011, .k = 4, .typeA = 'b', .typeB = 'b'}, 2);
  Product several{.m = 1, .n = 300, .k = 130};
  several.batch = {{2, 3 * 130, 130 * 300, 3 * 300}, {3, 130, 0, 300}};
  check(several, 2);
}

TEST(Contract, ManyThreads) {
  for (int threads : {2, 3})
    check({.m = 300, .n = 200, .k = 100, .packedB = true, .biasAndRelu = true}, threads);
  check({.m = 900, .n = 20, .k = 50}, 3);
}

} // namespace

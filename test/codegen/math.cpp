//===- math.cpp - compares emitted math functions with libm in double ---------------===//
#include "codegen/cpu/math/Math.h"
#include "test/codegen/Jit.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

using namespace mlir;
using namespace dlc;

namespace {

struct Unary {
  const char *name;
  double bound; ///< error bound in ulps of f32, as documented in codegen/cpu/math/Math.h
  double (*reference)(double);
  double f64 = 1.01; ///< error bound in ulps of f64

  /// Returns the expected f32 result. Some functions flush subnormal results to 0.
  double inF32(float x) const {
    double y = reference(x);
    const std::string_view function = name;
    bool hasOnlyNormal = function == "exp" || function == "sigmoid" || function.starts_with("gelu");
    return hasOnlyNormal && x < -1 && std::fabs(y) < std::numeric_limits<float>::min()
               ? std::copysign(0.0, y)
               : y;
  }
};

double sigmoid(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double geluErf(double x) {
  return x < -40 ? -0.0 : x > 40 ? x : x * 0.5 * std::erfc(-x * M_SQRT1_2);
}
double geluTanh(double x) {
  if (x < -40)
    return -0.0;
  // In long double, because the exponential multiplies the relative error of its argument by the
  // argument's magnitude.
  long double y = x, u = 2 * std::sqrt(2 / M_PIl) * (y + 0.044715L * y * y * y);
  return x > 0 ? x / (1 + std::exp(-u)) : x * std::exp(u) / (1 + std::exp(u));
}
/// Computed by bisection in long double.
double erfinv(double x) {
  const long double a = std::fabs(x);
  if (!(a < 1))
    return a == 1 ? std::copysign(HUGE_VAL, x) : NAN;
  if (a < 1e-9L)
    return static_cast<double>(x / M_2_SQRTPIl);
  long double low = 0, high = 6;
  for (int i = 0; i < 120; ++i) {
    const long double y = (low + high) / 2;
    (a < 0.5L ? std::erf(y) < a : std::erfc(y) > 1 - a) ? low = y : high = y;
  }
  return std::copysign(static_cast<double>(low), x);
}
double rsqrt(double x) { return 1 / std::sqrt(x); }
double reciprocal(double x) { return 1 / x; }

const Unary unaries[] = {
    {"exp", 1, std::exp},
    {"expm1", 1.5, std::expm1},
    {"log", 1, std::log},
    {"log1p", 1.5, std::log1p},
    {"tanh", 1.5, std::tanh},
    {"erf", 1.2, std::erf},
    {"erfc", 0.8, std::erfc},
    {"erfinv", 0.55, erfinv, 3},
    {"sin", 1.5, std::sin},
    {"cos", 1.5, std::cos},
    {"sigmoid", 2.5, sigmoid},
    {"gelu_erf", 6, geluErf},
    {"gelu_tanh", 3.2, geluTanh},
    {"tan", 0.51, std::tan},
    {"asin", 0.51, std::asin},
    {"acos", 0.51, std::acos},
    {"atan", 0.51, std::atan},
    {"sinh", 0.51, std::sinh},
    {"cosh", 0.51, std::cosh},
    {"asinh", 0.51, std::asinh},
    {"acosh", 0.51, std::acosh},
    {"atanh", 0.51, std::atanh},
    {"sqrt", 0.5, std::sqrt},
    {"rsqrt", 1.5, rsqrt},
    {"reciprocal", 0.5, reciprocal},
    {"floor", 0, std::floor},
    {"ceil", 0, std::ceil},
    {"round", 0, std::nearbyint},
    {"trunc", 0, std::trunc},
    {"abs", 0, std::fabs},
};

/// Returns the distance in ulps of T at `want`. The distance is infinite if only one of the values
/// is NaN or infinite, or if the signs of zeros differ. Overflow is permitted if the exact value
/// rounds to infinity.
template <class T> double distance(T got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  T rounded = static_cast<T>(want);
  if (got == rounded)
    return got != 0 || std::signbit(got) == std::signbit(want)
               ? std::fabs(std::isinf(got) ? 0 : got - want) /
                     std::ldexp(1.0,
                                std::max(std::ilogb(std::isinf(rounded) || want == 0 ? 1.0 : want),
                                         std::numeric_limits<T>::min_exponent - 1) +
                                    1 - std::numeric_limits<T>::digits)
               : INFINITY;
  if (std::isinf(rounded) != std::isinf(got))
    return std::isinf(rounded) || std::fabs(want) < std::numeric_limits<T>::max() * 0.9999998
               ? INFINITY
               : 1;
  if (got == 0 && std::signbit(got) != std::signbit(want))
    return INFINITY;
  int exponent = std::max(std::ilogb(want), std::numeric_limits<T>::min_exponent - 1);
  return std::fabs(got - want) / std::ldexp(1.0, exponent + 1 - std::numeric_limits<T>::digits);
}

bool hasAvx512() { return cpu::hostTarget().vectorBits >= 512; }

/// Kernel that computes out[i] = function(in0[i], in1[i], ...) for `lanes` elements at a time.
/// `begin` and `end` count groups of `lanes` elements.
test::Kernel mathKernel(const char *function, bool isDouble, int64_t lanes, int operands,
                        bool avx512 = hasAvx512()) {
  return test::Kernel(cpu::hostTarget(), [=](OpBuilder &b, Location loc, ValueRange args) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Type element = isDouble ? b.getF64Type() : Type(b.getF32Type());
    Type type = lanes == 1 ? element : VectorType::get({lanes}, element);
    SmallVector<Value> buffers;
    for (int i = 0; i <= operands; ++i) {
      Value slot =
          LLVM::GEPOp::create(b, loc, pointer, pointer, args[0], ArrayRef<LLVM::GEPArg>{i});
      buffers.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
    }
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    auto loop = scf::ForOp::create(b, loc, args[1], args[2], one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto at = [&](Value buffer) -> Value {
      Value width = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(lanes));
      Value offset = arith::MulIOp::create(b, loc, loop.getInductionVar(), width);
      return LLVM::GEPOp::create(b, loc, pointer, element, buffer, ArrayRef<LLVM::GEPArg>{offset});
    };
    SmallVector<Value> loaded;
    for (int i = 0; i < operands; ++i)
      loaded.push_back(LLVM::LoadOp::create(b, loc, type, at(buffers[i]), isDouble ? 8 : 4));
    Value result = cpu::emitMath(b, loc, function, loaded, args[4], avx512);
    LLVM::StoreOp::create(b, loc, result, at(buffers[operands]), isDouble ? 8 : 4);
  });
}

/// Returns every `stride`-th bit pattern, and the values near which functions change their
/// algorithm.
std::vector<float> samples(uint64_t stride) {
  std::vector<float> all;
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += stride)
    all.push_back(std::bit_cast<float>(static_cast<uint32_t>(i)));
  for (float x : {0.0f,
                  1e-45f,
                  2e-45f,
                  0x1.fffffcp-127f,
                  0x1p-126f,
                  0x1p-25f,
                  0x1p-13f,
                  0.5f,
                  0.55f,
                  0.85f,
                  1.0f,
                  0x1.fffffep-1f,
                  0x1.000002p+0f,
                  1.5f,
                  2.0f,
                  2.5f,
                  3.95f,
                  10.0f,
                  11.0f,
                  12.0f,
                  14.5f,
                  88.72283f,
                  88.72284f,
                  87.33655f,
                  103.97208f,
                  104.0f,
                  0x1p+23f,
                  0x1p+24f,
                  0x1p+28f,
                  0x1p+40f,
                  0x1.8p+40f,
                  1e30f,
                  std::numeric_limits<float>::max(),
                  HUGE_VALF,
                  NAN}) {
    for (float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, HUGE_VALF)}) {
      all.push_back(y);
      all.push_back(-y);
    }
  }
  while (all.size() % 96)
    all.push_back(1.0f);
  return all;
}

class UnaryMath : public testing::TestWithParam<Unary> {};

TEST_P(UnaryMath, F32StaysWithinItsBound) {
  const Unary &unary = GetParam();
  std::vector<float> in = samples(2053), out(in.size());
  // With AVX-512 instructions, if the processor has them, and without.
  for (bool avx512 : {false, true}) {
    if (avx512 && !hasAvx512())
      break;
    mathKernel(unary.name, false, 16, 1, avx512)({in.data(), out.data()}, 0, in.size() / 16);
    double worst = -1;
    float where = 0;
    for (size_t i = 0; i < in.size(); ++i)
      if (double d = distance(out[i], unary.inF32(in[i])); d > worst) {
        worst = d;
        where = in[i];
      }
    RecordProperty(avx512 ? "ulp_avx512" : "ulp", std::to_string(worst));
    EXPECT_LE(worst, unary.bound) << unary.name << "(" << where << ")";
  }
}

TEST_P(UnaryMath, F32IsTheSameInAnyNumberOfLanes) {
  const Unary &unary = GetParam();
  std::vector<float> in = samples(40000007);
  std::vector<float> wide(in.size()), out(in.size());
  mathKernel(unary.name, false, 16, 1)({in.data(), wide.data()}, 0, in.size() / 16);
  for (int64_t lanes : {1, 4, 6, 8, 32, 48}) {
    mathKernel(unary.name, false, lanes, 1)({in.data(), out.data()}, 0, in.size() / lanes);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_LE(distance(out[i], wide[i]), std::isnan(wide[i]) ? 0 : unary.bound)
          << unary.name << "(" << in[i] << ") in " << lanes << " lanes";
  }
}

TEST_P(UnaryMath, F64ScalarsAndVectors) {
  const Unary &unary = GetParam();
  std::vector<double> in, out;
  for (float x : samples(20000003))
    in.push_back(std::fabs(x) < 600 ? x * 1.0000000001 : x);
  out.resize(in.size());
  bool gelu = std::string(unary.name).starts_with("gelu");
  for (int64_t lanes : {8, 1}) {
    mathKernel(unary.name, true, lanes, 1)({in.data(), out.data()}, 0, in.size() / lanes);
    for (size_t i = 0; i < in.size(); ++i) {
      double want = unary.reference(in[i]);
      if (gelu && std::isfinite(want))
        ASSERT_LE(std::fabs(out[i] - want),
                  4 * 0x1p-53 * std::max(std::fabs(in[i]), std::fabs(want)))
            << in[i];
      else
        ASSERT_LE(distance(out[i], want), unary.f64) << unary.name << "(" << in[i] << ")";
    }
  }
}

/// Functions with their own algorithm for f64, compared with long double.
TEST(DoubleMath, StaysWithinItsBound) {
  struct Function {
    const char *name;
    double bound;
    long double (*reference)(long double);
  };
  auto logistic = [](long double x) { return 1 / (1 + std::exp(-x)); };
  const Function functions[] = {{"exp", 1, std::exp},
                                {"log", 1, std::log},
                                {"tanh", 2.5, std::tanh},
                                {"sigmoid", 2.5, logistic}};
  std::vector<double> in, out;
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < 400000; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const double within = std::ldexp(double(int64_t(state)), -63);
    in.push_back(within * (i % 4 == 0 ? 800 : i % 4 == 1 ? 20 : 1));
    if (i % 4 == 3) // any bit pattern
      in.back() = std::bit_cast<double>(state);
  }
  for (double x :
       {0.0, 0x1p-1074, 0x1p-1022, 0x1.fp-1023, 0x1p-54, 1.0, 0x1.fffffffffffffp-1,
        0x1.0000000000001p+0, 20.0, 708.0, 709.78, 709.79, 745.13, 745.14, HUGE_VAL, double(NAN)})
    in.insert(in.end(), {x, -x});
  out.resize(in.size());
  for (const Function &function : functions)
    for (bool avx512 : {false, true}) {
      if (avx512 && !hasAvx512())
        break;
      for (int64_t lanes : {16, 1}) {
        mathKernel(function.name, true, lanes, 1, avx512)({in.data(), out.data()}, 0,
                                                          in.size() / lanes);
        for (size_t i = 0; i < in.size(); ++i) {
          const long double want = function.reference(in[i]);
          const double rounded = static_cast<double>(want);
          const double kind = distance(out[i], rounded);
          if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0 || kind == INFINITY) {
            ASSERT_EQ(kind, 0) << function.name << "(" << in[i] << ") = " << out[i];
            continue;
          }
          const int exponent = std::max(std::ilogb(rounded), -1022);
          ASSERT_LE(std::fabs(double(out[i] - want)) / std::ldexp(1.0, exponent - 52),
                    function.bound)
              << function.name << "(" << in[i] << ")";
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, UnaryMath, testing::ValuesIn(unaries),
                         [](const auto &info) { return std::string(info.param.name); });

/// Fills pairs of arguments: special values with each other, all magnitudes, and moderate ones.
void pairs(std::vector<float> &x, std::vector<float> &y) {
  std::vector<float> special;
  for (float v : {0.0f, 1.0f, 2.0f, 0.5f, 3.0f, 1.5f, 1e-45f, 3e38f, 16777216.0f, 16777215.0f,
                  8388608.0f, 8388607.5f, 1.0000001f, 0.99999994f, 1e10f, HUGE_VALF, NAN}) {
    special.push_back(v);
    special.push_back(-v);
  }
  for (float a : special)
    for (float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  uint64_t state = 88172645463325252u;
  auto random = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<uint32_t>(state >> 16);
  };
  for (int i = 0; i < 500000; ++i) {
    float a = std::bit_cast<float>(random()), b = std::bit_cast<float>(random());
    x.push_back(a);
    y.push_back(b);
    float base =
        std::ldexp(1.0f + (random() & 0xffffff) * 0x1p-24f, static_cast<int>(random() % 40) - 20);
    float exponent =
        (static_cast<int>(random() & 0xffff) - 32768) / static_cast<float>(1 << (random() & 15));
    x.push_back(i & 1 ? base : -base);
    y.push_back(i & 2 ? exponent : std::floor(exponent));
  }
  while (x.size() % 16) {
    x.push_back(2.0f);
    y.push_back(3.0f);
  }
}

void checkBinary(const char *name, double bound, double (*reference)(double, double)) {
  std::vector<float> x, y;
  pairs(x, y);
  std::vector<float> out(x.size());
  for (int64_t lanes : {16, 1}) {
    mathKernel(name, false, lanes, 2)({x.data(), y.data(), out.data()}, 0, x.size() / lanes);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(distance(out[i], reference(x[i], y[i])), bound)
          << name << "(" << x[i] << ", " << y[i] << ") = " << out[i];
  }
}

TEST(BinaryMath, Pow) { checkBinary("pow", 0.51, std::pow); }
TEST(BinaryMath, Atan2) { checkBinary("atan2", 0.51, std::atan2); }
TEST(BinaryMath, Fmod) { checkBinary("fmod", 0, std::fmod); }

} // namespace

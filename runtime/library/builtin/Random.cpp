//===- Random.cpp - counter-based random numbers (Philox) -----------------===//
//
// Kind random of schema/Builtin.def:
//   buffers: [seed (i64)], [counter (i64)], [offset (i64)], [probabilities, count of
//   probability_dtype (bernoulli)], dst.
//
// Philox 4x32-10 with the seed as key. Element i takes lane i % 4 of the block whose counter words
// are (offset + i / 4, counter), low words first, so a result depends only on seed, counter, offset
// and i. ir/reference/ops/Random.h defines the conversion of words to numbers, and both
// implementations give the same bits. A uniform number is in [low, high), rounded down for
// integers. A bernoulli number is 1 if a uniform number is below the probability.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Message.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

struct RandomWords {
  uint32_t word[4];
};

RandomWords philox(uint64_t block, uint64_t high, uint64_t seed) {
  uint32_t counter[4] = {uint32_t(block), uint32_t(block >> 32), uint32_t(high),
                         uint32_t(high >> 32)};
  uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53u) * counter[0], b = uint64_t(0xCD9E8D57u) * counter[2];
    uint32_t next[4] = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
                        uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    std::memcpy(counter, next, sizeof counter);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return {{counter[0], counter[1], counter[2], counter[3]}};
}

/// Returns a number in [0, 1) from the leading bits of the word. It uses as many bits as the type's
/// significand holds, so that no number rounds up to 1.
template <typename T> double toUnitInterval(uint32_t word) {
  constexpr int bits = std::is_same_v<T, Float16> ? 11 : std::is_same_v<T, BFloat16> ? 8 : 24;
  return std::ldexp(static_cast<double>(word >> (32 - bits)), -bits);
}

using schema::Distribution;

struct RandomParameters {
  Distribution draw;
  DType dtype, probabilityType;
  int64_t count, seed, counter, offset;
  int seedBuffer = -1, counterBuffer = -1, offsetBuffer = -1, probabilityBuffer = -1, dst = 0;
  double low, high, mean, scale, probability;
};

/// Computes two standard normal numbers from two random words by the Box-Muller transform, in f64:
/// near a zero of the cosine, an f32 angle is too coarse.
void normalPair(uint32_t first, uint32_t second, double out[2]) {
  // At least one step above zero, so that the logarithm is finite.
  double u = std::ldexp(static_cast<double>((first >> 8) + 1), -24);
  double radius = std::sqrt(-2 * std::log(u)),
         angle = 6.283185307179586476925 * toUnitInterval<float>(second);
  out[0] = radius * std::cos(angle);
  out[1] = radius * std::sin(angle);
}

/// Computes the four random numbers of one Philox block: uniform in [0, 1), or standard normal.
template <typename T> void drawBlock(Distribution draw, const RandomWords &w, double out[4]) {
  if (draw == Distribution::Normal) {
    normalPair(w.word[0], w.word[1], out);
    normalPair(w.word[2], w.word[3], out + 2);
    return;
  }
  for (int i = 0; i < 4; ++i)
    // A probability is compared with a 24-bit number, whatever the type of the result.
    out[i] = draw == Distribution::Bernoulli ? toUnitInterval<float>(w.word[i])
                                             : toUnitInterval<T>(w.word[i]);
}

double readProbability(const RandomParameters &random, const void *data, int64_t at) {
  switch (random.probabilityType) {
  case DType::F16:
    return static_cast<const Float16 *>(data)[at];
  case DType::BF16:
    return static_cast<const BFloat16 *>(data)[at];
  case DType::F64:
    return static_cast<const double *>(data)[at];
  default:
    return static_cast<const float *>(data)[at];
  }
}

template <typename T, typename R>
T applyDistribution(const RandomParameters &random, R drawn, const void *probabilities,
                    int64_t at) {
  if (random.draw == Distribution::Bernoulli) {
    double p = probabilities ? readProbability(random, probabilities, at) : random.probability;
    return store<T>(static_cast<Compute<T>>(drawn < p ? 1 : 0));
  }
  if (random.draw == Distribution::Normal) {
    R value = R(random.mean) + R(random.scale) * drawn;
    return store<T>(static_cast<Compute<T>>(value));
  }
  R low = R(random.low), high = R(random.high);
  R value = low + (high - low) * drawn;
  // Rounding may reach the excluded upper bound.
  if (value >= high && high > low)
    value = std::nextafter(high, low);
  if constexpr (std::is_integral_v<Compute<T>>)
    value = std::floor(value);
  return store<T>(static_cast<Compute<T>>(value));
}

template <typename T>
void runRandom(const RandomParameters &random, void *const *buffers, const CallContext &context) {
  using R = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int64_t kPerBlock = 4;
  auto scalar = [&](int buffer, int64_t known) {
    return static_cast<uint64_t>(buffer < 0 ? known
                                            : *static_cast<const int64_t *>(buffers[buffer]));
  };
  uint64_t seed = scalar(random.seedBuffer, random.seed);
  uint64_t counter = scalar(random.counterBuffer, random.counter);
  uint64_t offset = scalar(random.offsetBuffer, random.offset);
  const void *probabilities =
      random.probabilityBuffer < 0 ? nullptr : buffers[random.probabilityBuffer];
  T *dst = static_cast<T *>(buffers[random.dst]);
  int64_t blocks = (random.count + kPerBlock - 1) / kPerBlock;
  parallelFor(context.threads, blocks, 1024, [&](int64_t begin, int64_t end, int) {
    for (int64_t block = begin; block < end; ++block) {
      double drawn[4];
      drawBlock<T>(random.draw, philox(offset + static_cast<uint64_t>(block), counter, seed),
                   drawn);
      int64_t first = block * kPerBlock, count = std::min(kPerBlock, random.count - first);
      for (int64_t i = 0; i < count; ++i)
        dst[first + i] = applyDistribution<T>(random, R(drawn[i]), probabilities, first + i);
    }
  });
}

} // namespace

std::unique_ptr<LibraryCall> makeRandom(KernelRequest &request) {
  const auto fields = request.read<schema::Random>();
  RandomParameters random;
  random.draw = fields.op;
  random.dtype = fields.dtype;
  random.count = fields.count;
  size_t next = 0;
  auto indexOf = [&](bool isBuffer) { return isBuffer ? static_cast<int>(next++) : -1; };
  random.seedBuffer = indexOf(fields.seed.isBuffer);
  random.counterBuffer = indexOf(fields.counter.isBuffer);
  random.offsetBuffer = indexOf(fields.offset.isBuffer);
  random.seed = fields.seed.value;
  random.counter = fields.counter.value;
  random.offset = fields.offset.value;
  random.low = fields.low;
  random.high = fields.high;
  random.mean = fields.mean;
  random.scale = fields.scale;
  random.probabilityType = fields.probabilityType;
  random.probability = fields.probability.value;
  if (random.draw == Distribution::Bernoulli) {
    random.probabilityBuffer = indexOf(fields.probability.isBuffer);
    requireFloating(fields, "probability_dtype", random.probabilityType);
  }
  if (random.draw == Distribution::Normal && !isFloating(random.dtype))
    fields.complain("normal needs a floating-point dtype");
  if (random.draw == Distribution::Uniform && !isFloating(random.dtype)) {
    // The conversion of a value that the integer type cannot hold would be undefined behavior.
    const bool isSigned = dtypeName(random.dtype)[0] == 'i';
    double bits = 8 * static_cast<double>(dtypeBytes(random.dtype)) - isSigned;
    double range = std::ldexp(1.0, static_cast<int>(std::min(bits, 53.0)));
    if (!(random.low >= (isSigned ? -range : 0) && random.high <= range))
      fields.complain("low and high exceed the range of ", dtypeName(random.dtype));
  }
  random.dst = static_cast<int>(next++);
  if (random.seedBuffer >= 0)
    request.need("seed", 1, DType::I64, false);
  if (random.counterBuffer >= 0)
    request.need("counter", 1, DType::I64, false);
  if (random.offsetBuffer >= 0)
    request.need("offset", 1, DType::I64, false);
  if (random.probabilityBuffer >= 0)
    request.need("probability", random.count, random.probabilityType, false);
  request.need("dst", random.count, random.dtype, true);
  request.end();
  return makeCall(std::string("random_") + nameOf(fields.op),
                  [random](void *const *buffers, const CallContext &context) {
                    dispatch(random.dtype, [&](auto type) {
                      runRandom<typename decltype(type)::type>(random, buffers, context);
                    });
                  });
}

} // namespace dlc::runtime::builtin

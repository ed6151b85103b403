//===- AttentionTest.cpp - blocked attention kernels in vectors and on AMX tiles -----------===//
#include "ProductsSample.h"

#include "runtime/library/attention/Describe.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace dlc;
using namespace dlc::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Size {
  int64_t heads, queries, keys, depth, width;
};

enum class Mask { None, Bool, Float, Keys, HiddenRows };

struct Way {
  int lanes = 16, parts = 0, threads = 2;
  bool causal = false;
  Mask mask = Mask::None;
};

using Numbers = std::vector<double>;

/// Results computed in f64, as the operation's description defines them.
struct Expected {
  Numbers y, lse, dq, dk, dv;
};

/// An operand of shape [heads, rows, size] or, if `transposed`, [rows, heads, size], which is the
/// layout of a projection's result.
struct Operand {
  Operand(int64_t heads, int64_t rows, int64_t size, bool transposed, unsigned seed)
      : rows(rows), size(size), head(transposed ? size : rows * size),
        row(transposed ? heads * size : size), values(random(heads * rows * size, seed)) {}
  size_t index(int64_t h, int64_t r, int64_t i) const {
    return static_cast<size_t>(h * head + r * row + i);
  }
  double at(int64_t h, int64_t r, int64_t i) const {
    return static_cast<double>(values[index(h, r, i)]);
  }
  json view() const { return {{"strides", {head, row, 1}}}; }
  /// Returns the largest difference relative to the largest value, or to 0.1 if that is larger,
  /// because gradients cancel if there is only one key.
  double errorFrom(const Numbers &want, int64_t heads) const {
    double error = 0, largest = 0.1;
    for (int64_t h = 0, n = 0; h < heads; ++h)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < size; ++i, ++n) {
          double apart = std::fabs(at(h, r, i) - want[static_cast<size_t>(n)]);
          error = apart <= error ? error : apart;
          largest = std::max(largest, std::fabs(want[static_cast<size_t>(n)]));
        }
    return error / largest;
  }
  int64_t rows, size, head, row;
  std::vector<float> values;
};

class Problem {
public:
  Problem(Size s, const Way &way)
      : s(s), way(way), scale(1 / std::sqrt(double(s.depth))),
        q(s.heads, s.queries, s.depth, true, 1), k(s.heads, s.keys, s.depth, true, 2),
        v(s.heads, s.keys, s.width, false, 3), dy(s.heads, s.queries, s.width, true, 4),
        y(s.heads, s.queries, s.width, true, 5), dq(s.heads, s.queries, s.depth, false, 6),
        dk(s.heads, s.keys, s.depth, true, 7), dv(s.heads, s.keys, s.width, false, 8),
        lse(static_cast<size_t>(s.heads * s.queries)) {
    bool all = way.mask != Mask::Keys;
    int64_t rows = all ? s.queries : 1;
    noise = random(rows * s.keys, 9);
    for (size_t i = 0; i < noise.size(); ++i) {
      bool hides =
          noise[i] < -0.4f || (way.mask == Mask::HiddenRows && i / size_t(s.keys) % 3 == 1);
      seen.push_back(!hides);
      if (way.mask == Mask::Float && hides)
        noise[i] = -INFINITY;
    }
  }

  /// Returns the largest error of any result.
  double error() {
    runIt(false);
    runIt(true);
    Expected want = expected();
    double worst = 0;
    auto take = [&](double e) { worst = e <= worst ? worst : e; };
    take(y.errorFrom(want.y, s.heads));
    take(dq.errorFrom(want.dq, s.heads));
    take(dk.errorFrom(want.dk, s.heads));
    take(dv.errorFrom(want.dv, s.heads));
    for (size_t i = 0; i < lse.size(); ++i)
      if (double(lse[i]) != want.lse[i])
        take(std::fabs(double(lse[i]) - want.lse[i]) / std::max(1.0, std::fabs(want.lse[i])));
    return worst;
  }

private:
  double bias(int64_t t, int64_t j) const {
    if ((way.causal && j > t))
      return -kInfinity;
    if (way.mask == Mask::None)
      return 0;
    auto i = static_cast<size_t>((way.mask == Mask::Keys ? 0 : t * s.keys) + j);
    if (way.mask == Mask::Float)
      return double(noise[i]);
    return seen[i] ? 0 : -kInfinity;
  }

  Expected expected() const {
    auto zeros = [](const Operand &like) { return Numbers(like.values.size()); };
    Expected e{zeros(y), {}, zeros(dq), zeros(dk), zeros(dv)};
    auto number = [](const Operand &of, int64_t h, int64_t r, int64_t i) {
      return static_cast<size_t>((h * of.rows + r) * of.size + i);
    };
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t t = 0; t < s.queries; ++t) {
        Numbers p(static_cast<size_t>(s.keys));
        double largest = -kInfinity, sum = 0, share = 0;
        for (int64_t j = 0; j < s.keys; ++j) {
          double dot = 0;
          for (int64_t i = 0; i < s.depth; ++i)
            dot += q.at(h, t, i) * k.at(h, j, i);
          p[size_t(j)] = scale * dot + bias(t, j);
          largest = std::max(largest, p[size_t(j)]);
        }
        for (double &x : p)
          sum += x = largest == -kInfinity ? 0 : std::exp(x - largest);
        e.lse.push_back(sum == 0 ? -kInfinity : largest + std::log(sum));
        for (int64_t j = 0; j < s.keys && sum != 0; ++j) {
          p[size_t(j)] /= sum;
          for (int64_t i = 0; i < s.width; ++i)
            e.y[number(y, h, t, i)] += p[size_t(j)] * v.at(h, j, i);
        }
        for (int64_t i = 0; i < s.width; ++i)
          share += dy.at(h, t, i) * e.y[number(y, h, t, i)];
        for (int64_t j = 0; j < s.keys; ++j) {
          double dp = 0;
          for (int64_t i = 0; i < s.width; ++i) {
            dp += dy.at(h, t, i) * v.at(h, j, i);
            e.dv[number(dv, h, j, i)] += p[size_t(j)] * dy.at(h, t, i);
          }
          double ds = scale * p[size_t(j)] * (dp - share);
          for (int64_t i = 0; i < s.depth; ++i) {
            e.dq[number(dq, h, t, i)] += ds * k.at(h, j, i);
            e.dk[number(dk, h, j, i)] += ds * q.at(h, t, i);
          }
        }
      }
    return e;
  }

  void runIt(bool gradient) {
    json desc{{"kind", gradient ? "attention_grad" : "attention"},
              {"dtype", "f32"},
              {"lanes", way.lanes},
              {"parts", way.parts},
              {"scale", scale},
              {"causal", way.causal},
              {"sums", true},
              {"batch", {s.heads}},
              {"queries", s.queries},
              {"keys", s.keys},
              {"depth", s.depth},
              {"width", s.width}};
    std::vector<std::pair<const char *, Operand *>> reads{{"q", &q}, {"k", &k}, {"v", &v}}, writes;
    if (gradient) {
      reads.insert(reads.end(), {{"y", &y}, {"lse", nullptr}, {"dy", &dy}});
      writes = {{"dq", &dq}, {"dk", &dk}, {"dv", &dv}};
    } else {
      writes = {{"y", &y}, {"lse", nullptr}};
    }
    std::vector<void *> buffers;
    std::vector<runtime::BufferInfo> infos;
    auto add = [&](void *data, size_t bytes, bool written) {
      buffers.push_back(data);
      infos.push_back({bytes, written});
    };
    auto addAll = [&](auto &list, bool written) {
      for (auto &[name, operand] : list) {
        auto &values = operand ? operand->values : lse;
        add(values.data(), values.size() * sizeof(float), written);
        if (operand)
          desc[name] = operand->view();
      }
    };
    addAll(reads, false);
    if (way.mask == Mask::Float) {
      desc["mask"] = {{"dtype", "f32"}, {"strides", {0, s.keys, 1}}};
      add(noise.data(), noise.size() * sizeof(float), false);
    } else if (way.mask != Mask::None) {
      desc["mask"] = {{"dtype", "bool"}, {"strides", {0, way.mask == Mask::Keys ? 0 : s.keys, 1}}};
      add(seen.data(), seen.size(), false);
    }
    addAll(writes, true);
    Runnable("attention", desc, infos, way.threads).run(buffers.data());
  }

  Size s;
  Way way;
  double scale;
  Operand q, k, v, dy, y, dq, dk, dv;
  std::vector<float> lse, noise;
  std::vector<uint8_t> seen;
};

const Size kSizes[] = {{2, 1, 1, 1, 1},       {3, 17, 65, 40, 24},  {2, 65, 17, 80, 40},
                       {1, 197, 197, 64, 64}, {1, 70, 600, 64, 33}, {5, 129, 40, 16, 16}};

void tryAll(int lanes, int parts, double bound,
            std::initializer_list<Mask> masks = {Mask::None, Mask::Bool, Mask::Float, Mask::Keys,
                                                 Mask::HiddenRows}) {
  for (const Size &size : kSizes)
    for (Mask mask : masks)
      for (bool causal : {false, true}) {
        int threads = 1 + int(size.queries + size.keys + causal) % 3;
        double error = Problem(size, {lanes, parts, threads, causal, mask}).error();
        EXPECT_LE(error, bound) << size.heads << " heads, " << size.queries << " queries, "
                                << size.keys << " keys of " << size.depth << " and " << size.width
                                << ", mask " << int(mask) << (causal ? ", causal" : "");
      }
}

} // namespace

TEST(Attention, Avx512) {
  if (attention::lanes() < 16)
    GTEST_SKIP() << "no AVX-512 here";
  tryAll(16, 0, 4e-6);
}

TEST(Attention, Avx2) {
  if (attention::lanes() < 8)
    GTEST_SKIP() << "no AVX2 here";
  tryAll(8, 0, 4e-6);
}

TEST(Attention, Tiles) {
  if (!attention::hasTiles())
    GTEST_SKIP() << "no tiles here";
  tryAll(16, 3, 4e-6, {Mask::Float});
  tryAll(16, 2, 3e-5, {Mask::None, Mask::HiddenRows});
  tryAll(16, 1, 3e-2, {Mask::None});
}

TEST(Attention, FewHeadsAreSplit) {
  if (attention::lanes() < 8)
    GTEST_SKIP() << "no AVX2 here";
  // More threads than heads: gradients are computed by blocks of queries, then by blocks of keys.
  for (bool causal : {false, true})
    EXPECT_LE(Problem({1, 300, 520, 32, 48}, {attention::lanes(), 0, 3, causal}).error(), 4e-6);
}

TEST(Attention, RefusesWhatDoesNotFit) {
  json desc{{"kind", "attention"}, {"dtype", "f32"}, {"lanes", 8}, {"scale", 1.0}, {"batch", {2}},
            {"queries", 3},        {"keys", 4},      {"depth", 5}, {"width", 6}};
  desc["q"] = desc["k"] = {{"strides", {20, 5, 1}}};
  desc["v"] = desc["y"] = {{"strides", {24, 6, 1}}};
  std::vector<runtime::BufferInfo> fits{
      {35 * 4, false}, {160, false}, {192, false}, {42 * 4, true}};
  auto refusal = [](json changed, std::vector<runtime::BufferInfo> buffers) {
    try {
      runtime::createCall("attention", changed, buffers, 1);
      return std::string();
    } catch (const Error &error) {
      return std::string(error.what());
    }
  };
  auto with = [&](const char *name, json value) {
    json changed = desc;
    changed[name] = std::move(value);
    return changed;
  };
  using ::testing::HasSubstr;
  auto small = fits;
  small[1].bytes -= 1;
  auto fixed = fits;
  fixed[3].writable = false;
  if (attention::lanes() >= 8) {
    EXPECT_EQ(refusal(desc, fits), "");
    EXPECT_THAT(refusal(desc, small), HasSubstr("('k') has 159 bytes; required: 160"));
    EXPECT_THAT(refusal(desc, fixed), HasSubstr("('y') is written"));
    EXPECT_THAT(refusal(desc, {fits[0]}), HasSubstr("no buffer for 'k'"));
    EXPECT_THAT(refusal(with("sums", true), fits), HasSubstr("no buffer for 'lse'"));
  }
  EXPECT_THAT(refusal(with("kind", "other"), fits),
              HasSubstr("'kind' must be attention or attention_grad; found: \"other\""));
  EXPECT_THAT(refusal(with("dtype", "f64"), fits), HasSubstr("required: f32 or bf16"));
  EXPECT_THAT(refusal(with("keys", 0), fits), HasSubstr("'keys' must be an integer from 1"));
  EXPECT_THAT(refusal(with("lanes", 4), fits), HasSubstr("'lanes' must be"));
  EXPECT_THAT(refusal(with("q", {{"strides", {20, 1, 5}}}), fits), HasSubstr("contiguous rows"));
  EXPECT_THAT(refusal(with("q", {{"strides", {20, -5, 1}}}), fits),
              HasSubstr("'strides' must be 3 integers"));
  EXPECT_THAT(refusal(with("mask", {{"dtype", "i8"}, {"strides", {0, 0, 1}}}), fits),
              HasSubstr("a mask of bool"));
}

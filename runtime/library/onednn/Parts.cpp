//===- Parts.cpp - f32 as sums of bf16 numbers ------------------------------------===//
#include "runtime/library/onednn/Parts.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Message.h"

#include <bit>
#include <cstring>

namespace dlc::onednn {

using runtime::fail;

Parts Parts::parse(const nlohmann::json &parts, const std::vector<int64_t> &dims,
                   const std::string &what) {
  constexpr const char *form = "{\"axis\", \"order\": letters h, m and l, \"strides\"}";
  if (!parts.is_object() || !parts.contains("axis") || !parts["axis"].is_number_integer() ||
      !parts.contains("order") || !parts["order"].is_string())
    fail("oneDNN: '", what, "': parts must be ", form, ", found ", parts.dump());
  Parts result;
  result.axis = parts["axis"].get<size_t>(); // a negative one is past the end
  result.order = parts["order"].get<std::string>();
  result.dims = dims;
  bool good = !result.order.empty() && result.order.size() <= 8 &&
              result.order.find_first_not_of("hml") == std::string::npos;
  if (!good || result.axis >= dims.size() ||
      dims[result.axis] % static_cast<int64_t>(result.order.size()) != 0)
    fail("oneDNN: '", what, "': parts ", parts.dump(), " do not suit dims ", runtime::listed(dims));
  result.dims[result.axis] /= static_cast<int64_t>(result.order.size());
  if (parts.contains("strides") && parts["strides"].is_array())
    for (const auto &stride : parts["strides"])
      if (stride.is_number_integer() && stride.get<uint64_t>() <= uint64_t(1) << 46)
        result.strides.push_back(stride.get<int64_t>());
  if (result.strides.size() != dims.size())
    fail("oneDNN: '", what, "': parts must be ", form, ", found ", parts.dump());
  return result;
}

namespace {

constexpr int64_t kBlock = 256;

// The loader picks the widest that the processor has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define DLC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DLC_CLONES
#endif

/// The nearest bf16; what would become infinite is cut instead.
inline uint32_t rounded(uint32_t bits) {
  uint32_t up = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  bool overflows = (up & 0x7f800000) == 0x7f800000;
  return overflows ? bits & 0xffff0000 : up;
}

/// h of `count` numbers, and in `rest` what it leaves of them.
DLC_CLONES void takePart(float *rest, uint16_t *part, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(rest[i]);
    bool isFinite = (bits & 0x7f800000) != 0x7f800000;
    uint32_t head = rounded(bits);
    // A NaN stays one even where its payload's upper bits are none.
    head = isFinite ? head : (bits & 0xffff0000) | ((bits & 0x7fffff) != 0 ? 0x400000 : 0);
    part[i] = static_cast<uint16_t>(head >> 16);
    float left = rest[i] - std::bit_cast<float>(head);
    rest[i] = isFinite ? left : 0;
  }
}

struct Block {
  uint16_t parts[3][kBlock];
  float rest[kBlock];
};

int indexOf(char letter) { return letter == 'h' ? 0 : letter == 'm' ? 1 : 2; }

} // namespace

void Parts::split(const float *from, uint16_t *to, const std::vector<int64_t> &toStrides,
                  int threads) const {
  size_t rank = dims.size(), inner = rank - 1;
  for (size_t d = 0; d < rank; ++d)
    if (strides[d] == 1 && toStrides[d] == 1 && (dims[d] > 1 || dims[inner] == 1))
      inner = d;
  int64_t run = dims[inner], fromStep = strides[inner], toStep = toStrides[inner], rows = 1;
  for (size_t d = 0; d < rank; ++d)
    rows *= d == inner ? 1 : dims[d];
  if (run == 0 || rows == 0)
    return;
  // Two parts are called h and l where there is no m.
  bool three = order.find('m') != std::string::npos;
  int count = three ? 3 : 2;
  std::vector<std::pair<int64_t, int>> places; // (where, which)
  places.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    places.push_back({static_cast<int64_t>(i) * dims[axis] * toStrides[axis],
                      three ? indexOf(order[i]) : order[i] != 'h'});
  auto splitRow = [&](const float *source, uint16_t *target) {
    Block block;
    for (int64_t at = 0; at < run; at += kBlock) {
      int64_t n = std::min(kBlock, run - at);
      if (fromStep == 1)
        std::memcpy(block.rest, source + at, static_cast<size_t>(n) * sizeof(float));
      else
        for (int64_t i = 0; i < n; ++i)
          block.rest[i] = source[(at + i) * fromStep];
      for (int part = 0; part < count; ++part)
        takePart(block.rest, block.parts[part], n);
      for (auto [where, which] : places) {
        uint16_t *place = target + where + at * toStep;
        if (toStep == 1)
          std::memcpy(place, block.parts[which], static_cast<size_t>(n) * sizeof(uint16_t));
        else
          for (int64_t i = 0; i < n; ++i)
            place[i * toStep] = block.parts[which][i];
      }
    }
  };
  constexpr int64_t kWorthAThread = 16384;
  runtime::parallelFor(threads, rows, std::max<int64_t>(1, kWorthAThread / run),
                       [&](int64_t begin, int64_t end, int) {
                         for (int64_t row = begin; row < end; ++row) {
                           int64_t rest = row, source = 0, target = 0;
                           for (size_t d = rank; d-- > 0;) {
                             if (d == inner)
                               continue;
                             int64_t index = rest % dims[d];
                             rest /= dims[d];
                             source += index * strides[d];
                             target += index * toStrides[d];
                           }
                           splitRow(from + source, to + target);
                         }
                       });
}

} // namespace dlc::onednn

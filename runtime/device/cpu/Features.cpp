//===- Features.cpp - CPU feature detection ----------------------------------===//
#include "runtime/device/cpu/Features.h"

#include "runtime/program/Message.h"

#include <cpuid.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

namespace dlc::runtime {

namespace {

enum Register : uint8_t { Eax, Ebx, Ecx, Edx };
/// Register state that the operating system must save for the feature to be usable.
enum State : uint8_t { None, Ymm, Zmm, Tiles, ExtendedGprs };

/// Whether a feature distinguishes machines.
enum Display : uint8_t { Main, Detail };

struct FeatureRow {
  std::string_view name;
  Feature implied;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state;
  Display display;
};

constexpr FeatureRow kRows[] = {
#define FEATURE(id, name, implied, ...) {name, Feature::implied, __VA_ARGS__},
#include "runtime/device/cpu/Features.def"
};

/// LLVM features of a CPU that are never used for arithmetic: a program that lists them runs
/// without them.
constexpr std::string_view kSystemFeatures[] = {
    "cldemote",  "enqcmd",  "hreset",  "kl",      "mwaitx",    "pconfig",   "pku",
    "prefetchi", "ptwrite", "rdpru",   "rtm",     "serialize", "sgx",       "shstk",
    "tsxldtrk",  "uintr",   "usermsr", "waitpkg", "widekl",    "vzeroupper"};

/// Names of the instruction sets.
constexpr std::string_view kSetNames[] = {"scalar", "avx2", "avx512", "amx"};

/// Returns whether the CPU has this version of AVX10, which CPUID reports as a number instead of a
/// feature bit.
bool hasAvx10(uint32_t version) {
  uint32_t a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (d >> 19 & 1) &&
         __get_cpuid_count(0x24, 0, &a, &b, &c, &d) && (b & 0xff) >= version;
}

/// Returns EAX, EBX, ECX and EDX of a CPUID leaf; zeros if the processor does not have the leaf.
std::array<uint32_t, 4> cpuid(uint32_t leaf, uint32_t subleaf) {
  std::array<uint32_t, 4> r{};
  __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]);
  return r;
}

bool isStateEnabled(State state) {
  if (state == None)
    return true;
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return false;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint32_t needed = state == Ymm ? 0x6 : state == Zmm ? 0xe6 : state == Tiles ? 0x60000 : 0x80000;
  return (low & needed) == needed;
}

bool isSystemFeature(std::string_view name) {
  return std::find(std::begin(kSystemFeatures), std::end(kSystemFeatures), name) !=
         std::end(kSystemFeatures);
}

/// Returns the row of a feature by LLVM's name, or null for an unknown name.
const FeatureRow *findRow(std::string_view name) {
  auto found = std::find_if(std::begin(kRows), std::end(kRows),
                            [&](const FeatureRow &row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

/// Returns whether a CPU with a feature must have the other one.
bool implies(Feature feature, Feature other) {
  while (feature != other) {
    Feature implied = kRows[size_t(feature)].implied;
    if (implied == feature)
      return false;
    feature = implied;
  }
  return true;
}

/// Returns whether the instruction set permits a feature. The scalar one permits those that all
/// x86-64 CPUs have.
bool permits(InstructionSet set, Feature feature) {
  using enum Feature;
  switch (set) {
  case InstructionSet::Scalar:
    return feature <= Sse2 || feature == LongMode;
  case InstructionSet::Avx2:
    return !implies(feature, Avx512f) && !implies(feature, AmxTile);
  case InstructionSet::Avx512:
    return !implies(feature, AmxTile);
  case InstructionSet::Amx:
    return true;
  }
  return false;
}

/// Reads the CPU's features. Each CPUID leaf is queried once: under a hypervisor each CPUID
/// instruction causes a VM exit, which takes microseconds.
CpuFeatures detectFeatures() {
  const bool saved[] = {true, isStateEnabled(Ymm), isStateEnabled(Zmm), isStateEnabled(Tiles),
                        isStateEnabled(ExtendedGprs)};
  std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>> leaves;
  CpuFeatures features;
  for (size_t i = 0; i < kFeatureCount; ++i) {
    const FeatureRow &row = kRows[i];
    auto [at, isNew] = leaves.try_emplace({row.leaf, row.subleaf});
    if (isNew)
      at->second = cpuid(row.leaf, row.subleaf);
    features.bits[i] = (at->second[row.reg] >> row.bit & 1) && saved[row.state] &&
                       permits(getMaxInstructionSet(), Feature(i));
  }
  return features;
}

} // namespace

std::string_view getFeatureName(Feature feature) { return kRows[size_t(feature)].name; }

void CpuFeatures::add(std::string_view name) {
  if (const FeatureRow *row = findRow(name))
    bits.set(size_t(row - kRows));
}

CpuFeatures CpuFeatures::parse(std::string_view text) {
  CpuFeatures features;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.starts_with('+'))
      features.add(item.substr(1));
  }
  return features;
}

std::vector<std::string_view> CpuFeatures::mainNames() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kFeatureCount; ++i)
    if (bits[i] && kRows[i].display == Main)
      names.push_back(kRows[i].name);
  return names;
}

bool enablesFeature(std::string_view list, Feature feature) {
  std::string_view name = getFeatureName(feature);
  for (size_t at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
    size_t end = at + name.size();
    if (at > 0 && list[at - 1] == '+' && (end == list.size() || list[end] == ','))
      return true;
  }
  return false;
}

InstructionSet getMaxInstructionSet() {
  static const InstructionSet limit = [] {
    const char *given = std::getenv("DLC_ARCH");
    std::string_view name = given && *given ? given : "amx";
    auto found = std::find(std::begin(kSetNames), std::end(kSetNames), name);
    if (found == std::end(kSetNames))
      fail("DLC_ARCH '", name, "': required: scalar, avx2, avx512 or amx");
    return kHasX86Kernels ? InstructionSet(found - std::begin(kSetNames)) : InstructionSet::Scalar;
  }();
  return limit;
}

const CpuFeatures &hostFeatures() {
  static const CpuFeatures features = detectFeatures();
  return features;
}

bool hostSupports(InstructionSet set) {
  using enum Feature;
  const CpuFeatures &host = hostFeatures();
  switch (set) {
  case InstructionSet::Scalar:
    return true;
  case InstructionSet::Avx2:
    return host.hasAll({Avx2, Fma});
  case InstructionSet::Avx512:
    return hostSupports(InstructionSet::Avx2) &&
           host.hasAll({Avx512f, Avx512bw, Avx512dq, Avx512vl});
  case InstructionSet::Amx:
    return hostSupports(InstructionSet::Avx512) && host.hasAll({AmxTile, AmxBf16, Avx512bf16});
  }
  return false;
}

bool hostHasFeature(std::string_view name) {
  if (const FeatureRow *row = findRow(name))
    return hostFeatures().bits[size_t(row - kRows)];
  if (name == "avx10.1" || name == "avx10.2")
    return hostSupports(InstructionSet::Avx512) && hasAvx10(name.back() == '1' ? 1 : 2) &&
           isStateEnabled(Zmm);
  return isSystemFeature(name);
}

bool isKnownFeature(std::string_view name) {
  return findRow(name) || name == "avx10.1" || name == "avx10.2" || isSystemFeature(name);
}

int hostLanes() {
  const char *limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  bool isLimited = limit && std::strncmp(limit, "AVX2", 4) == 0;
  if (!isLimited && hostSupports(InstructionSet::Avx512))
    return 16;
  return 8;
}

int hostByteLanes() {
  return hostLanes() == 16 && hostFeatures().has(Feature::Avx512vnni) ? 16 : 8;
}

InstructionSet getKernelSet(int64_t lanes) {
  return lanes == 16                          ? InstructionSet::Avx512
         : hostSupports(InstructionSet::Avx2) ? InstructionSet::Avx2
                                              : InstructionSet::Scalar;
}

std::string_view getKernelSetName(int64_t lanes) { return kSetNames[size_t(getKernelSet(lanes))]; }

int64_t getPrivateCacheBytes() {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes <= 0 ? 1 << 20 : std::clamp<int64_t>(bytes, 256 << 10, 4 << 20);
}

int hostThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  return 1;
}

} // namespace dlc::runtime

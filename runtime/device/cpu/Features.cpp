//===- Features.cpp - CPU feature detection ----------------------------------===//
#include "runtime/device/cpu/Features.h"

#include <cpuid.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

namespace dlc::runtime {

namespace {

enum Register : uint8_t { Eax, Ebx, Ecx, Edx };
/// Register state that the operating system must save for the feature to be usable.
enum State : uint8_t { None, Ymm, Zmm, Tiles, ExtendedGprs };

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

constexpr Feature kFeatures[] = {
    {"x87", 1, 0, Edx, 0, None},
    {"cx8", 1, 0, Edx, 8, None},
    {"cmov", 1, 0, Edx, 15, None},
    {"mmx", 1, 0, Edx, 23, None},
    {"fxsr", 1, 0, Edx, 24, None},
    {"sse", 1, 0, Edx, 25, None},
    {"sse2", 1, 0, Edx, 26, None},
    {"sse3", 1, 0, Ecx, 0, None},
    {"pclmul", 1, 0, Ecx, 1, None},
    {"ssse3", 1, 0, Ecx, 9, None},
    {"fma", 1, 0, Ecx, 12, Ymm},
    {"cx16", 1, 0, Ecx, 13, None},
    {"sse4.1", 1, 0, Ecx, 19, None},
    {"sse4.2", 1, 0, Ecx, 20, None},
    {"crc32", 1, 0, Ecx, 20, None},
    {"movbe", 1, 0, Ecx, 22, None},
    {"popcnt", 1, 0, Ecx, 23, None},
    {"aes", 1, 0, Ecx, 25, None},
    {"xsave", 1, 0, Ecx, 27, None},
    {"avx", 1, 0, Ecx, 28, Ymm},
    {"f16c", 1, 0, Ecx, 29, Ymm},
    {"rdrnd", 1, 0, Ecx, 30, None},
    {"fsgsbase", 7, 0, Ebx, 0, None},
    {"bmi", 7, 0, Ebx, 3, None},
    {"avx2", 7, 0, Ebx, 5, Ymm},
    {"bmi2", 7, 0, Ebx, 8, None},
    {"invpcid", 7, 0, Ebx, 10, None},
    {"avx512f", 7, 0, Ebx, 16, Zmm},
    {"evex512", 7, 0, Ebx, 16, Zmm},
    {"avx512dq", 7, 0, Ebx, 17, Zmm},
    {"rdseed", 7, 0, Ebx, 18, None},
    {"adx", 7, 0, Ebx, 19, None},
    {"avx512ifma", 7, 0, Ebx, 21, Zmm},
    {"clflushopt", 7, 0, Ebx, 23, None},
    {"clwb", 7, 0, Ebx, 24, None},
    {"avx512cd", 7, 0, Ebx, 28, Zmm},
    {"sha", 7, 0, Ebx, 29, None},
    {"avx512bw", 7, 0, Ebx, 30, Zmm},
    {"avx512vl", 7, 0, Ebx, 31, Zmm},
    {"avx512vbmi", 7, 0, Ecx, 1, Zmm},
    {"avx512vbmi2", 7, 0, Ecx, 6, Zmm},
    {"gfni", 7, 0, Ecx, 8, None},
    {"vaes", 7, 0, Ecx, 9, Ymm},
    {"vpclmulqdq", 7, 0, Ecx, 10, Ymm},
    {"avx512vnni", 7, 0, Ecx, 11, Zmm},
    {"avx512bitalg", 7, 0, Ecx, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, Zmm},
    {"rdpid", 7, 0, Ecx, 22, None},
    {"movdiri", 7, 0, Ecx, 27, None},
    {"movdir64b", 7, 0, Ecx, 28, None},
    {"avx512vp2intersect", 7, 0, Edx, 8, Zmm},
    {"amx-bf16", 7, 0, Edx, 22, Tiles},
    {"avx512fp16", 7, 0, Edx, 23, Zmm},
    {"amx-tile", 7, 0, Edx, 24, Tiles},
    {"amx-int8", 7, 0, Edx, 25, Tiles},
    {"sha512", 7, 1, Eax, 0, Ymm},
    {"sm3", 7, 1, Eax, 1, Ymm},
    {"sm4", 7, 1, Eax, 2, Ymm},
    {"raoint", 7, 1, Eax, 3, None},
    {"avxvnni", 7, 1, Eax, 4, Ymm},
    {"avx512bf16", 7, 1, Eax, 5, Zmm},
    {"cmpccxadd", 7, 1, Eax, 7, None},
    {"amx-fp16", 7, 1, Eax, 21, Tiles},
    {"avxifma", 7, 1, Eax, 23, Ymm},
    {"avxvnniint8", 7, 1, Edx, 4, Ymm},
    {"avxneconvert", 7, 1, Edx, 5, Ymm},
    {"movrs", 7, 1, Eax, 31, None},
    {"amx-complex", 7, 1, Edx, 8, Tiles},
    {"avxvnniint16", 7, 1, Edx, 10, Ymm},
    {"apxf", 7, 1, Edx, 21, ExtendedGprs},
    {"egpr", 7, 1, Edx, 21, ExtendedGprs},
    {"push2pop2", 7, 1, Edx, 21, ExtendedGprs},
    {"ppx", 7, 1, Edx, 21, ExtendedGprs},
    {"ndd", 7, 1, Edx, 21, ExtendedGprs},
    {"ccmp", 7, 1, Edx, 21, ExtendedGprs},
    {"nf", 7, 1, Edx, 21, ExtendedGprs},
    {"cf", 7, 1, Edx, 21, ExtendedGprs},
    {"zu", 7, 1, Edx, 21, ExtendedGprs},
    {"amx-fp8", 0x1e, 1, Eax, 4, Tiles},
    {"amx-tf32", 0x1e, 1, Eax, 6, Tiles},
    {"amx-avx512", 0x1e, 1, Eax, 7, Tiles},
    {"amx-movrs", 0x1e, 1, Eax, 8, Tiles},
    {"xsaveopt", 13, 1, Eax, 0, None},
    {"xsavec", 13, 1, Eax, 1, None},
    {"xsaves", 13, 1, Eax, 3, None},
    {"sahf", 0x80000001, 0, Ecx, 0, None},
    {"lzcnt", 0x80000001, 0, Ecx, 5, None},
    {"sse4a", 0x80000001, 0, Ecx, 6, None},
    {"xop", 0x80000001, 0, Ecx, 11, Ymm},
    {"lwp", 0x80000001, 0, Ecx, 15, None},
    {"fma4", 0x80000001, 0, Ecx, 16, Ymm},
    {"tbm", 0x80000001, 0, Ecx, 21, None},
    {"prfchw", 0x80000001, 0, Ecx, 8, None},
    {"64bit", 0x80000001, 0, Edx, 29, None},
    {"clzero", 0x80000008, 0, Ebx, 0, None},
    {"wbnoinvd", 0x80000008, 0, Ebx, 9, None},
};

/// LLVM features of a CPU that are never used for arithmetic: a program that lists them runs
/// without them.
constexpr std::string_view kSystemFeatures[] = {
    "cldemote",  "enqcmd",  "hreset",  "kl",      "mwaitx",    "pconfig",   "pku",
    "prefetchi", "ptwrite", "rdpru",   "rtm",     "serialize", "sgx",       "shstk",
    "tsxldtrk",  "uintr",   "usermsr", "waitpkg", "widekl",    "vzeroupper"};

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
  for (std::string_view known : kSystemFeatures)
    if (known == name)
      return true;
  return false;
}

/// Returns whether the CPU has a feature. Each CPUID leaf is queried once and cached: under a
/// hypervisor each CPUID instruction causes a VM exit, which takes microseconds.
bool has(const Feature &feature) {
  static const auto known = [] {
    const bool saved[] = {true, isStateEnabled(Ymm), isStateEnabled(Zmm), isStateEnabled(Tiles),
                          isStateEnabled(ExtendedGprs)};
    std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>> leaves;
    std::array<bool, std::size(kFeatures)> all{};
    for (size_t i = 0; i < all.size(); ++i) {
      const Feature &each = kFeatures[i];
      auto [at, isNew] = leaves.try_emplace({each.leaf, each.subleaf});
      if (isNew)
        at->second = cpuid(each.leaf, each.subleaf);
      all[i] = (at->second[each.reg] >> each.bit & 1) && saved[each.state];
    }
    return all;
  }();
  return known[size_t(&feature - kFeatures)];
}

} // namespace

bool hostHasFeature(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (feature.name == name)
      return has(feature);
  if (name == "avx10.1" || name == "avx10.2")
    return hasAvx10(name.back() == '1' ? 1 : 2) && isStateEnabled(Zmm);
  return isSystemFeature(name);
}

bool isKnownFeature(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (feature.name == name)
      return true;
  return name == "avx10.1" || name == "avx10.2" || isSystemFeature(name);
}

std::vector<std::string> hostFeatures() {
  std::vector<std::string> names;
  for (const Feature &feature : kFeatures)
    if (has(feature))
      names.emplace_back(feature.name);
  return names;
}

int hostLanes() {
  auto hasAll = [](std::initializer_list<const char *> features) {
    return std::all_of(features.begin(), features.end(),
                       [](const char *feature) { return hostHasFeature(feature); });
  };
  const char *limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  bool isLimited = limit && std::strncmp(limit, "AVX2", 4) == 0;
  if (!isLimited && hasAll({"avx512f", "avx512bw", "avx512dq", "avx512vl"}))
    return 16;
  return hasAll({"avx2", "fma"}) ? 8 : 0;
}

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

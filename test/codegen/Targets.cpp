//===- Targets.cpp - processors that generated code is tested for ---------===//
#include "test/codegen/Targets.h"

#include "codegen/cpu/target/Native.h"

namespace dlc::test {

std::vector<cpu::Target> targets() {
  std::vector<cpu::Target> all{cpu::hostTarget()};
  if (all[0].vectorBits > 256) {
    cpu::Target narrow = all[0];
    narrow.cpu = "haswell";
    narrow.features = "+avx2,+fma,+f16c";
    narrow.vectorBits = 256;
    all.push_back(narrow);
  }
  cpu::Target baseline = all[0];
  baseline.cpu = "x86-64";
  baseline.features = "+sse2";
  baseline.vectorBits = 128;
  all.push_back(baseline);
  return all;
}

} // namespace dlc::test

//===- Targets.h - processors that generated code is tested for -----------===//
#ifndef DLC_TEST_CODEGEN_TARGETS_H
#define DLC_TEST_CODEGEN_TARGETS_H

#include "codegen/cpu/target/Target.h"

#include <vector>

namespace dlc::test {

/// Returns the host's target and, if its vectors are wider than those of AVX2, a target with AVX2.
std::vector<cpu::Target> targets();

} // namespace dlc::test

#endif

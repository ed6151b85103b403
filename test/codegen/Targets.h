//===- Targets.h - processors that generated code is tested for -----------===//
#ifndef DLC_TEST_CODEGEN_TARGETS_H
#define DLC_TEST_CODEGEN_TARGETS_H

#include "codegen/cpu/target/Target.h"

#include <vector>

namespace dlc::test {

/// Returns the host's target, a target with AVX2 if the host's vectors are wider, and one with the
/// features that all x86-64 processors have.
std::vector<cpu::Target> targets();

} // namespace dlc::test

#endif

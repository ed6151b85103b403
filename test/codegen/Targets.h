//===- Targets.h - the processors that generated code is tested for -------===//
#ifndef DLC_TEST_CODEGEN_TARGETS_H
#define DLC_TEST_CODEGEN_TARGETS_H

#include "codegen/cpu/Target.h"

#include <vector>

namespace dlc::test {

/// The host's own vectors and, on a processor with wider ones, those of AVX2.
std::vector<cpu::Target> targets();

} // namespace dlc::test

#endif

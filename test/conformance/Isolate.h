//===- Isolate.h - runs conformance cases in child processes -----------------------===//
#ifndef DLC_TEST_CONFORMANCE_ISOLATE_H
#define DLC_TEST_CONFORMANCE_ISOLATE_H

#include "test/conformance/Runner.h"

namespace dlc::conformance {

/// Runs all cases in child processes, several at a time. If a process crashes or hangs, its cases
/// are bisected until the failing case is found.
void runIsolated(llvm::ArrayRef<Case> cases, const RunnerOptions &options,
                 const std::function<void(const Failure &)> &failed,
                 const std::function<void(size_t)> &progress);

} // namespace dlc::conformance

#endif // DLC_TEST_CONFORMANCE_ISOLATE_H

//===- Isolate.h - cases in processes of their own ---------------------------------===//
#ifndef DLC_TEST_CONFORMANCE_ISOLATE_H
#define DLC_TEST_CONFORMANCE_ISOLATE_H

#include "test/conformance/Runner.h"

namespace dlc::conformance {

/// Runs all cases in child processes, several at once. One that crashes or hangs is cut in halves
/// until the case is found.
void runIsolated(llvm::ArrayRef<Case> cases, const RunnerOptions &options,
                 const std::function<void(const Failure &)> &failed,
                 const std::function<void(size_t)> &progress);

} // namespace dlc::conformance

#endif // DLC_TEST_CONFORMANCE_ISOLATE_H

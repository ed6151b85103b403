//===- Faults.cpp - fault injection for tests; disabled without DLC_TEST_HOOKS ----------------===//
#include "tools/dlc/Options.h"

#include "passes/OpNames.h"

#include <csignal>
#include <cstdlib>
#include <cstring>

#ifdef DLC_TEST_HOOKS
void dlc::cli::spoilAsAsked(TuningOptions &tuning) {
  if (const char *pattern = std::getenv("DLC_TEST_SPOIL"))
    tuning.spoil = [pattern](std::string_view implementation, void *data, size_t bytes) {
      if (matchesPattern(pattern, {implementation.data(), implementation.size()}) && bytes >= 8)
        std::memset(static_cast<char *>(data) + bytes / 8 * 4, 0x42, 4);
    };
  if (const char *given = std::getenv("DLC_TEST_CRASH")) {
    llvm::StringRef pattern, stage, signal;
    std::tie(stage, signal) = llvm::StringRef(given).rsplit(':');
    std::tie(pattern, stage) = stage.rsplit(':');
    int number = std::atoi(signal.str().c_str());
    tuning.fault = [pattern = pattern.str(), stage = stage.str(),
                    number](std::string_view implementation, std::string_view at) {
      if (at == stage && matchesPattern(pattern, {implementation.data(), implementation.size()}))
        std::raise(number);
    };
  }
}
#else
void dlc::cli::spoilAsAsked(TuningOptions &) {}
#endif

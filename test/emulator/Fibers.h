//===- Fibers.h - runs a kernel's blocks with one fiber for each thread -------===//
#ifndef DLC_TEST_EMULATOR_FIBERS_H
#define DLC_TEST_EMULATOR_FIBERS_H

#include "test/emulator/Interface.h"

#include <string>

namespace dlc_emulated {

/// Order in which the threads of a block resume after each point where they wait.
enum class ThreadOrder { Forward, Reverse };

/// Runs the blocks one after the other. Returns a description of the fault, or an empty string.
/// Must not be called concurrently.
std::string runKernel(const Image &image, const Kernel &kernel, Extent grid, Extent block,
                      unsigned dynamicShared, void *const *arguments, ThreadOrder order);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_FIBERS_H

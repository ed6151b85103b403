//===- Fibers.h - a kernel's blocks, one fiber for each thread ----------------===//
#ifndef DLC_TEST_EMULATOR_FIBERS_H
#define DLC_TEST_EMULATOR_FIBERS_H

#include "test/emulator/Interface.h"

#include <string>

namespace dlc_emulated {

/// In which order the threads of a block go on after each place where they wait.
enum class ThreadOrder { Forward, Reverse };

/// Runs the blocks one after the other. Gives what went wrong, or nothing. One caller at a time.
std::string runKernel(const Image &image, const Kernel &kernel, Extent grid, Extent block,
                      unsigned dynamicShared, void *const *arguments, ThreadOrder order);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_FIBERS_H

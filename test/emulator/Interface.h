//===- Interface.h - interface between the emulated GPU and its kernels -------===//
//
// This file is prepended to Emulated.h when kernels are compiled, so it includes no other header.
//
//===--------------------------------------------------------------------------===//
#ifndef DLC_TEST_EMULATOR_INTERFACE_H
#define DLC_TEST_EMULATOR_INTERFACE_H

namespace dlc_emulated {

struct Extent {
  unsigned x, y, z;
};

/// Thread and block indices and dimensions that a kernel reads. The GPU updates them whenever it
/// resumes a thread.
struct Place {
  Extent thread, block, blocks, threads;
  void *dynamicShared;
};

/// Functions of the emulated GPU that kernels call. A thread that waits lets other threads run.
struct Services {
  /// Waits until all threads of the block that have not ended arrive. Returns the number of threads
  /// that passed a nonzero predicate.
  int (*barrier)(int predicate);
  /// Waits until all lanes of the mask that have not ended arrive. The last lane to arrive calls
  /// `complete` with the operand of each lane (null for absent lanes), then all lanes continue.
  void (*collective)(unsigned mask, void *mine, void (*complete)(void *const *all, unsigned mask));
  /// Starts a copy of `valid` bytes followed by zeros up to `bytes`. As cp.async permits, the data
  /// is copied only when the thread waits for the copy's group.
  void (*copyAsync)(void *to, const void *from, int bytes, int valid);
  void (*commitGroup)();
  /// Waits until at most `pending` groups of the thread are incomplete.
  void (*waitGroups)(int pending);
  /// Ends the launch with a fault of the kernel.
  void (*trap)(const char *why);
};

struct Kernel {
  const char *name;
  void (*run)(void *const *arguments);
  int parameters;
  /// Size in bytes of each parameter, and whether the parameter is an address in device memory.
  const int *bytes;
  const bool *pointers;
};

/// Contents of an image, exported as the symbol dlc_emulated_image.
struct Image {
  const char *architecture;
  Place *place;
  const Services **services;
  const Kernel *kernels;
  int kernelCount;
  /// Range of the statically sized shared-memory variables.
  char *sharedBegin, *sharedEnd;
};

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_INTERFACE_H

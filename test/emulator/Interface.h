//===- Interface.h - between the emulated GPU and the kernels it runs ---------===//
//
// Kernels are compiled with this in front of Emulated.h; so it includes nothing.
//
//===--------------------------------------------------------------------------===//
#ifndef DLC_TEST_EMULATOR_INTERFACE_H
#define DLC_TEST_EMULATOR_INTERFACE_H

namespace dlc_emulated {

struct Extent {
  unsigned x, y, z;
};

/// What a kernel sees of its place; set by the GPU whenever it lets a thread go on.
struct Place {
  Extent thread, block, blocks, threads;
  void *dynamicShared;
};

/// What running threads ask of the GPU. A thread that waits lets others run.
struct Services {
  /// Until all threads of the block that have not ended are here. Gives how many came with a
  /// predicate that is not 0.
  int (*barrier)(int predicate);
  /// Until all lanes of the mask that have not ended are here; the last to come calls `complete`
  /// with what each brought (null for the others), and then all go on.
  void (*collective)(unsigned mask, void *mine, void (*complete)(void *const *all, unsigned mask));
  /// A copy that comes to pass only when its thread waits for its group, as cp.async may: `valid`
  /// bytes, then zeros up to `bytes`.
  void (*copyAsync)(void *to, const void *from, int bytes, int valid);
  void (*commitGroup)();
  /// Until at most so many of the thread's groups are under way.
  void (*waitGroups)(int pending);
  /// Ends the launch as a fault of the kernel.
  void (*trap)(const char *why);
};

struct Kernel {
  const char *name;
  void (*run)(void *const *arguments);
  int parameters;
  /// Of each parameter: its bytes, and whether it is an address in the device's memory.
  const int *bytes;
  const bool *pointers;
};

/// What an image exports, as dlc_emulated_image.
struct Image {
  const char *architecture;
  Place *place;
  const Services **services;
  const Kernel *kernels;
  int kernelCount;
  /// Variables in shared memory that the text declares with a size.
  char *sharedBegin, *sharedEnd;
};

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_INTERFACE_H

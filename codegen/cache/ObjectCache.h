//===- ObjectCache.h - content-addressed cache of machine code ------------===//
#ifndef DLC_CODEGEN_CACHE_OBJECTCACHE_H
#define DLC_CODEGEN_CACHE_OBJECTCACHE_H

#include "codegen/cpu/target/Native.h"

namespace dlc {

/// Persistent cache of machine code with one file per kernel, named by the hash of everything that
/// the kernel's code depends on. Files are written under a temporary name and then renamed, so that
/// readers see only complete entries even if a writer is killed. A damaged entry is treated as
/// missing. If the folder cannot be written (no space, no permission), nothing is cached.
class ObjectCache {
public:
  /// Opens the cache in `folder`. An empty name disables the cache.
  explicit ObjectCache(std::string folder);

  std::optional<cpu::MachineCode> find(llvm::StringRef key) const;
  void store(llvm::StringRef key, const cpu::MachineCode &code);

private:
  std::string pathOf(llvm::StringRef key) const;
  std::string folder;
};

/// Returns a text that identifies the compiler: its version, and the size and time stamp of the
/// executable or library file that contains this function.
std::string compilerIdentity();

} // namespace dlc
#endif

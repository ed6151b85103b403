//===- ObjectCache.h - content-addressed cache of machine code ------------===//
#ifndef DLC_CODEGEN_CACHE_OBJECTCACHE_H
#define DLC_CODEGEN_CACHE_OBJECTCACHE_H

#include "codegen/cpu/Native.h"

namespace dlc {

/// Stores one file per kernel, named by the hash of everything that its code depends on. Files are
/// written under a temporary name and renamed, so that readers see complete entries only, even if a
/// writer is killed. A damaged entry is treated as missing. If the folder cannot be written (no
/// space, no permission), nothing is cached.
class ObjectCache {
public:
  /// An empty folder name disables the cache.
  explicit ObjectCache(std::string folder);

  std::optional<cpu::Code> find(llvm::StringRef key) const;
  void store(llvm::StringRef key, const cpu::Code &code);

private:
  std::string pathOf(llvm::StringRef key) const;
  std::string folder;
};

/// Identifies the compiler: its version, and the size and time stamp of the file that contains this
/// function.
std::string compilerIdentity();

} // namespace dlc
#endif

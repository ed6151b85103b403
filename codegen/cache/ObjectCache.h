//===- ObjectCache.h - machine code on disk, by content -------------------===//
#ifndef DLC_CODEGEN_CACHE_OBJECTCACHE_H
#define DLC_CODEGEN_CACHE_OBJECTCACHE_H

#include "codegen/cpu/Native.h"

namespace dlc {

/// One file per kernel, named by the hash of all that its code depends on, written to a temporary
/// name and renamed: a reader sees a whole entry or none, whatever dies or runs beside it. A
/// damaged entry counts as missing. A folder that cannot be written (no space, no permission) is
/// done without.
class ObjectCache {
public:
  /// An empty folder name means no cache.
  explicit ObjectCache(std::string folder);

  std::optional<cpu::Code> find(llvm::StringRef key) const;
  void store(llvm::StringRef key, const cpu::Code &code);

private:
  std::string pathOf(llvm::StringRef key) const;
  std::string folder;
};

/// Says which compiler made the code: the version and the file that holds this function.
std::string compilerIdentity();

} // namespace dlc
#endif

//===- BlobOwners.cpp - shared owners of the memory of resource blobs -----===//
#include "ir/tensor/BlobOwners.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <mutex>

using namespace mlir;

namespace dlc::ref {

struct BlobOwners::Table {
  struct Entry {
    std::shared_ptr<const void> owner;
    size_t blobs = 0; ///< reference count: registered blobs with this address and size
  };
  using Range = std::pair<const char *, size_t>;

  static Range rangeOf(ArrayRef<char> data) { return {data.data(), data.size()}; }

  /// Registers a blob with this address and size. The first owner stays registered until the last
  /// blob with the same address and size is removed, so that the memory at a registered address is
  /// never freed.
  void add(ArrayRef<char> data, std::shared_ptr<const void> owner) {
    std::lock_guard lock(mutex);
    Entry &entry = entries[rangeOf(data)];
    if (entry.blobs++ == 0)
      entry.owner = std::move(owner);
  }

  void remove(ArrayRef<char> data) {
    // The owner is declared before the lock, so that it is destroyed after the unlock: its deleter
    // may call foreign code.
    std::shared_ptr<const void> owner;
    std::lock_guard lock(mutex);
    auto at = entries.find(rangeOf(data));
    if (at == entries.end() || --at->second.blobs > 0)
      return;
    owner = std::move(at->second.owner);
    entries.erase(at);
  }

  std::shared_ptr<const void> find(ArrayRef<char> data) const {
    std::lock_guard lock(mutex);
    auto at = entries.find(rangeOf(data));
    return at == entries.end() ? nullptr : at->second.owner;
  }

  mutable std::mutex mutex;
  llvm::DenseMap<Range, Entry> entries;
};

BlobOwners::BlobOwners(Dialect *dialect) : Base(dialect), table(std::make_shared<Table>()) {}

const BlobOwners *BlobOwners::of(MLIRContext *context) {
  Dialect *dialect = context->getLoadedDialect("dlc");
  return dialect ? dialect->getRegisteredInterface<BlobOwners>() : nullptr;
}

std::shared_ptr<const void> BlobOwners::find(ArrayRef<char> data) const {
  return table->find(data);
}

AsmResourceBlob makeBlob(MLIRContext *context, ArrayRef<char> data, size_t alignment,
                         std::shared_ptr<const void> owner) {
  assert((data.empty() || owner.use_count() > 0) && "a blob needs an owner of its memory");
  const BlobOwners *owners = BlobOwners::of(context);
  if (!owners)
    return UnmanagedAsmResourceBlob::allocateWithAlign(data, alignment,
                                                       [owner](void *, size_t, size_t) {});
  owners->table->add(data, std::move(owner));
  return UnmanagedAsmResourceBlob::allocateWithAlign(
      data, alignment, [table = owners->table](void *from, size_t size, size_t) {
        table->remove({static_cast<char *>(from), size});
      });
}

void adoptBlobs(ModuleOp module) {
  MLIRContext *context = module.getContext();
  const BlobOwners *owners = BlobOwners::of(context);
  if (!owners)
    return;
  llvm::SetVector<DialectResourceBlobManager::BlobEntry *> entries;
  AttrTypeWalker walker;
  walker.addWalk(
      [&](DenseResourceElementsAttr attr) { entries.insert(attr.getRawHandle().getResource()); });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  for (DialectResourceBlobManager::BlobEntry *entry : entries) {
    AsmResourceBlob *blob = entry->getBlob();
    if (!blob || owners->find(blob->getData()))
      continue;
    ArrayRef<char> data = blob->getData();
    size_t alignment = blob->getDataAlignment();
    auto parsed = std::make_shared<AsmResourceBlob>(std::move(*blob));
    entry->setBlob(makeBlob(context, data, alignment, std::move(parsed)));
  }
}

} // namespace dlc::ref

//===- SimplifyTransfers.cpp - merges and hoists transfers ----------------===//
#include "passes/place/Apply.h"

#include "passes/TensorBuilder.h"

using namespace mlir;

namespace dlc::place {
namespace {

/// Folds a transfer: transfer(x) to x's own device becomes x, transfer(transfer(x)) becomes
/// transfer(x), and transfer(constant) becomes a constant on the target device. Returns true if the
/// operation was erased.
bool foldTransferFully(TransferOp transfer) {
  while (true) {
    Attribute constant;
    if (auto made = transfer.getX().getDefiningOp<ConstantOp>())
      constant = made.getValue();
    SmallVector<OpFoldResult> results;
    if (failed(transfer->fold(constant, results)))
      return false;
    if (results.empty())
      continue;
    Value folded = dyn_cast<Value>(results.front());
    if (!folded) {
      OpBuilder builder(transfer);
      builder.setInsertionPointAfterValue(transfer.getX());
      folded = ConstantOp::create(builder, transfer.getX().getLoc(), transfer.getType(),
                                  cast<ElementsAttr>(cast<Attribute>(results.front())));
    }
    transfer.getResult().replaceAllUsesWith(folded);
    transfer.erase();
    return true;
  }
}

} // namespace

void simplifyTransfers(func::FuncOp function) {
  SmallVector<TransferOp> transfers, kept;
  function.walk([&](TransferOp transfer) { transfers.push_back(transfer); });
  for (TransferOp transfer : transfers)
    if (!foldTransferFully(transfer))
      kept.push_back(transfer);
  // After chains of transfers were folded, inner transfers without users are erased.
  for (TransferOp &transfer : llvm::reverse(kept))
    if (transfer->use_empty()) {
      transfer.erase();
      transfer = {};
    }
  llvm::DenseMap<std::pair<Value, Type>, TransferOp> first;
  for (TransferOp transfer : kept) {
    if (!transfer)
      continue;
    auto [at, isNew] = first.try_emplace({transfer.getX(), transfer.getType()}, transfer);
    if (!isNew) {
      transfer.getResult().replaceAllUsesWith(at->second.getResult());
      transfer.erase();
      continue;
    }
    OpBuilder builder(transfer);
    builder.setInsertionPointAfterValue(transfer.getX());
    if (builder.getInsertionPoint() == builder.getInsertionBlock()->end() ||
        &*builder.getInsertionPoint() != transfer)
      transfer->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
}

} // namespace dlc::place

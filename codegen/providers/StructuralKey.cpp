//===- StructuralKey.cpp - structural key of an operation -----------------===//
#include "codegen/providers/StructuralKey.h"

#include "codegen/providers/Provider.h"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/Matchers.h"

using namespace mlir;

namespace dlc {

namespace {

class StructuralKeyWriter {
public:
  explicit StructuralKeyWriter(StructuralKey &key) : key(key) {}

  void write(Operation *op) {
    key.push_back(op->getName().getAsOpaquePointer());
    key.push_back(op->getAttrDictionary().getAsOpaquePointer());
    count(op->getNumOperands());
    count(op->getNumResults());
    for (Value operand : op->getOperands())
      use(operand);
    for (Value result : op->getResults())
      define(result);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        count(block.getOperations().size());
        for (BlockArgument argument : block.getArguments())
          define(argument);
        for (Operation &inner : block)
          write(&inner);
      }
  }

private:
  void count(size_t number) { key.push_back(reinterpret_cast<const void *>(number)); }

  void define(Value value) {
    numbers.try_emplace(value, numbers.size());
    key.push_back(value.getType().getAsOpaquePointer());
  }

  /// Adds a value to the key. Values of the operation are represented by a number, and values from
  /// outside by their compile-time properties.
  void use(Value value) {
    auto [at, isNew] = numbers.try_emplace(value, numbers.size());
    count(at->second);
    if (!isNew)
      return;
    key.push_back(value.getType().getAsOpaquePointer());
    double number = 0;
    count(isSplat(value, number));
    count(llvm::bit_cast<uint64_t>(number));
    auto constant = value.getDefiningOp<ConstantOp>();
    count(constant != nullptr);
    key.push_back(constant && !areWeights(constant) ? constant.getValue().getAsOpaquePointer()
                                                    : nullptr);
  }

  /// Returns true if only the type of a constant enters the key, as for float weights. Integer
  /// constants enter the key by their values, because candidates depend on how many bits they need.
  static bool areWeights(ConstantOp constant) {
    auto type = cast<RankedTensorType>(constant.getY().getType());
    return isa<FloatType>(type.getElementType()) && type.getNumElements() > 1;
  }

  StructuralKey &key;
  llvm::DenseMap<Value, size_t> numbers;
};

} // namespace

StructuralKey computeStructuralKey(Operation *op) {
  StructuralKey key;
  StructuralKeyWriter(key).write(op);
  key.push_back(reinterpret_cast<const void *>(uintptr_t(isRepeated(op))));
  return key;
}

} // namespace dlc

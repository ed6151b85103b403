//===- TensorTest.cpp - ownership of the memory of tensors ----------------===//
#include "ir/tensor/Tensor.h"
#include "ir/dlc/Dialect.h"
#include "ir/tensor/BlobOwners.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace dlc::ref {
namespace {

/// Four floats in a blob's own memory, at `shift` bytes after an aligned address.
struct Weights {
  explicit Weights(size_t shift)
      : memory(std::make_shared<std::vector<char>>(shift + sizeof(float) * 4)), shift(shift) {
    context.loadDialect<DlcDialect>();
    for (int i = 0; i < 4; ++i)
      set(i, float(i) + 1);
  }

  ArrayRef<char> bytes() const { return ArrayRef<char>(*memory).drop_front(shift); }

  void set(int i, float value) {
    memcpy(memory->data() + shift + sizeof(float) * size_t(i), &value, sizeof(float));
  }

  Tensor tensor() {
    auto type = RankedTensorType::get({4}, Float32Type::get(&context));
    return *Tensor::fromAttr(
        DenseResourceElementsAttr::get(type, "weights", makeBlob(&context, bytes(), 1, memory)));
  }

  MLIRContext context;
  std::shared_ptr<std::vector<char>> memory;
  size_t shift;
};

bool isAligned(const char *data) { return reinterpret_cast<uintptr_t>(data) % sizeof(float) == 0; }

TEST(Tensor, BorrowsWeightsThatAreAligned) {
  Weights weights(4);
  EXPECT_EQ(weights.tensor().data(), weights.memory->data() + 4);
}

TEST(Tensor, CopiesWeightsThatLieAnywhere) {
  Weights weights(3);
  Tensor tensor = weights.tensor();
  EXPECT_TRUE(isAligned(tensor.data()));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(tensor.getDouble(i), i + 1);
}

TEST(Tensor, CopiesWhenSomebodyReads) {
  Weights weights(1);
  Tensor tensor = weights.tensor();
  EXPECT_EQ(tensor.size(), 4);
  EXPECT_EQ(tensor.bytes(), 16);
  weights.set(2, 30);
  EXPECT_EQ(tensor.getDouble(2), 30);
  // The read above has copied the elements, so later writes to the blob have no effect.
  weights.set(2, 40);
  EXPECT_EQ(tensor.getDouble(2), 30);
}

TEST(Tensor, CopiesOnceForAll) {
  Weights weights(2);
  Tensor tensor = weights.tensor(), same = tensor;
  Tensor transposed = tensor.withType(RankedTensorType::get({2, 2}, tensor.getElementType()));
  std::vector<const char *> seen(8);
  std::vector<std::thread> threads;
  for (const char *&data : seen)
    threads.emplace_back([&data, tensor] { data = tensor.data(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const char *data : seen)
    EXPECT_EQ(data, same.data());
  EXPECT_EQ(transposed.data(), same.data());
  EXPECT_EQ(transposed.getDouble(3), 4);
}

TEST(Tensor, KeepsTheCopyWhenTheWeightsGo) {
  Tensor read, again;
  {
    Weights weights(1);
    read = weights.tensor();
    again = read;
    ASSERT_TRUE(isAligned(read.data()));
    std::fill(weights.memory->begin(), weights.memory->end(), 0);
  }
  float third = 0;
  memcpy(&third, again.data() + 8, sizeof(third));
  EXPECT_EQ(third, 3);
}

TEST(Tensor, BecomesAnAttributeOfItsOwn) {
  Weights weights(1);
  ElementsAttr attr = weights.tensor().toAttr();
  weights.set(0, 50);
  EXPECT_EQ(Tensor::fromAttr(attr)->getDouble(0), 1);
}

/// Candidates are benchmarked in child processes, which read the parent's tensors.
TEST(Tensor, IsReadInAnotherProcess) {
  Weights weights(1);
  Tensor tensor = weights.tensor();
  pid_t child = fork();
  if (child == 0)
    _exit(tensor.getDouble(3) == 4 && isAligned(tensor.data()) ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tensor.getDouble(3), 4);
}

//===--- Owners of blobs ------------------------------------------------------===//

constexpr int64_t kSizes[] = {64, 1024, 20 * 1024, 2 << 20};

Tensor ramp(MLIRContext &context, int64_t bytes) {
  Tensor tensor = Tensor::empty(RankedTensorType::get({bytes / 4}, Float32Type::get(&context)));
  std::iota(reinterpret_cast<float *>(tensor.mutableData()),
            reinterpret_cast<float *>(tensor.mutableData() + bytes), 0.0f);
  return tensor;
}

void expectRamp(const Tensor &tensor, int64_t bytes) {
  const auto *values = reinterpret_cast<const float *>(tensor.data());
  for (int64_t i = 0; i < bytes / 4; ++i)
    ASSERT_EQ(values[i], float(i)) << "element " << i << " of " << bytes << " bytes";
}

/// Returns the tensor that `read` creates in a context, after the context was destroyed.
template <typename Read> Tensor afterTheContext(Read read) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  return read(context);
}

TEST(BlobOwners, TensorsOutliveTheContextOfAttributes) {
  for (int64_t bytes : kSizes) {
    expectRamp(afterTheContext([&](MLIRContext &context) {
                 return *Tensor::fromAttr(ramp(context, bytes).toAttr());
               }),
               bytes);
    expectRamp(afterTheContext([&](MLIRContext &context) {
                 return *Tensor::fromAttr(ramp(context, bytes).toResource("weights"));
               }),
               bytes);
  }
}

TEST(BlobOwners, TensorsOutliveTheContextOfForeignBlobs) {
  for (int64_t bytes : kSizes)
    expectRamp(
        afterTheContext([&](MLIRContext &context) {
          Tensor values = ramp(context, bytes);
          return *Tensor::fromAttr(DenseResourceElementsAttr::get(
              values.getType(), "weights",
              HeapAsmResourceBlob::allocateAndCopyWithAlign({values.data(), size_t(bytes)}, 64)));
        }),
        bytes);
}

TEST(BlobOwners, ForeignBlobsAreCopied) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  std::vector<float> memory = {1, 2, 3, 4};
  Tensor tensor = *Tensor::fromAttr(DenseResourceElementsAttr::get(
      RankedTensorType::get({4}, Float32Type::get(&context)), "weights",
      UnmanagedAsmResourceBlob::allocateInferAlign<float>(memory)));
  memory[1] = 20;
  EXPECT_EQ(tensor.getDouble(1), 2);
}

TEST(BlobOwners, OwnedBlobsAreShared) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  for (int64_t bytes : kSizes) {
    Tensor tensor = ramp(context, bytes);
    EXPECT_EQ(Tensor::fromAttr(tensor.toResource("weights"))->data(), tensor.data());
  }
}

/// Without the dialect there is no registry, so tensors copy blobs.
TEST(BlobOwners, WithoutTheDialectBlobsAreCopied) {
  Tensor read;
  {
    MLIRContext context;
    Tensor tensor = ramp(context, 1024);
    read = *Tensor::fromAttr(tensor.toResource("weights"));
    EXPECT_NE(read.data(), tensor.data());
  }
  expectRamp(read, 1024);
}

TEST(BlobOwners, MemoryIsReleasedWithTheLastTensor) {
  std::weak_ptr<const void> memory;
  Tensor read = afterTheContext([&](MLIRContext &context) {
    Tensor tensor = ramp(context, 1024);
    memory = tensor.owner();
    return *Tensor::fromAttr(tensor.toResource("weights"));
  });
  expectRamp(read, 1024);
  EXPECT_FALSE(memory.expired());
  read = {};
  EXPECT_TRUE(memory.expired());
}

TEST(BlobOwners, MemoryIsReleasedWithTheBlob) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  auto &blobs = DenseResourceElementsHandle::getManagerInterface(&context).getBlobManager();
  std::weak_ptr<const void> memory;
  std::string first, second;
  {
    Tensor tensor = ramp(context, 1024);
    memory = tensor.owner();
    first = tensor.toResource("weights").getRawHandle().getKey();
    second = tensor.toResource("weights").getRawHandle().getKey();
  }
  ASSERT_NE(first, second);
  blobs.update(first, AsmResourceBlob());
  EXPECT_FALSE(memory.expired());
  blobs.update(second, AsmResourceBlob());
  EXPECT_TRUE(memory.expired());
}

/// Two blobs with the same memory have different owners. The first owner is kept until both blobs
/// are deleted.
TEST(BlobOwners, BlobsOfTheSameMemoryKeepIt) {
  for (bool deletesFirst : {true, false}) {
    Weights weights(0);
    auto one = std::make_shared<std::shared_ptr<void>>(weights.memory),
         two = std::make_shared<std::shared_ptr<void>>(weights.memory);
    std::weak_ptr<void> firstOwner = one;
    auto blob =
             std::make_unique<AsmResourceBlob>(makeBlob(&weights.context, weights.bytes(), 4, one)),
         other =
             std::make_unique<AsmResourceBlob>(makeBlob(&weights.context, weights.bytes(), 4, two));
    one = two = nullptr;
    (deletesFirst ? blob : other).reset();
    EXPECT_FALSE(firstOwner.expired());
    EXPECT_NE(BlobOwners::of(&weights.context)->find(weights.bytes()), nullptr);
    blob.reset();
    other.reset();
    EXPECT_TRUE(firstOwner.expired());
    EXPECT_EQ(BlobOwners::of(&weights.context)->find(weights.bytes()), nullptr);
  }
}

TEST(BlobOwners, BlobsAreMadeAndReadByManyThreads) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        Tensor tensor = ramp(context, 64);
        AsmResourceBlob blob = makeBlob(&context, {tensor.data(), 64}, 64, tensor.owner());
        EXPECT_EQ(BlobOwners::of(&context)->find(blob.getData()), tensor.owner());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

constexpr char kParsed[] = R"(
func.func @main() -> tensor<4xf32> {
  %w = dlc.constant dense_resource<w> : tensor<4xf32>
  return %w : tensor<4xf32>
}
{-# dialect_resources: { builtin: {
  w: "0x040000000000803F000000400000404000008040"
} } #-})";

TEST(BlobOwners, BlobsOfAParsedModuleAreAdoptedInPlace) {
  Tensor read = afterTheContext([](MLIRContext &context) {
    context.loadDialect<mlir::func::FuncDialect>();
    auto module = parseSourceString<ModuleOp>(kParsed, &context);
    DenseResourceElementsAttr attr;
    module->walk([&](ConstantOp op) { attr = cast<DenseResourceElementsAttr>(op.getValue()); });
    const char *data = attr.getRawHandle().getBlob()->getData().data();
    EXPECT_NE(Tensor::fromAttr(attr)->data(), data);
    adoptBlobs(*module);
    adoptBlobs(*module);
    EXPECT_EQ(attr.getRawHandle().getBlob()->getData().data(), data);
    Tensor tensor = *Tensor::fromAttr(attr);
    EXPECT_EQ(tensor.data(), data);
    return tensor;
  });
  const auto *values = reinterpret_cast<const float *>(read.data());
  EXPECT_EQ(std::vector<float>(values, values + 4), (std::vector<float>{1, 2, 3, 4}));
}

#if GTEST_HAS_DEATH_TEST
TEST(BlobOwners, MemoryWithoutAnOwnerIsRefused) {
  MLIRContext context;
  context.loadDialect<DlcDialect>();
  auto type = RankedTensorType::get({1}, Float32Type::get(&context));
  const float value = 1;
  EXPECT_DEATH(Tensor::borrow(type, &value, nullptr), "needs an owner");
  // A pointer without ownership.
  EXPECT_DEATH(
      Tensor::borrow(type, &value, std::shared_ptr<const void>(std::shared_ptr<void>(), &value)),
      "needs an owner");
}
#endif

} // namespace
} // namespace dlc::ref

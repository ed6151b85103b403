//===- TensorTest.cpp - whose memory a tensor's elements are in -----------===//
#include "ir/tensor/Tensor.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace dlc::ref {
namespace {

/// Four numbers, which lie so many bytes after a multiple of their size.
struct Weights {
  explicit Weights(size_t shift) : memory(shift + sizeof(float) * 4), shift(shift) {
    for (int i = 0; i < 4; ++i)
      set(i, float(i) + 1);
  }

  void set(int i, float value) {
    memcpy(memory.data() + shift + sizeof(float) * size_t(i), &value, sizeof(float));
  }

  Tensor tensor() {
    auto type = RankedTensorType::get({4}, Float32Type::get(&context));
    auto attr = DenseResourceElementsAttr::get(
        type, "weights",
        UnmanagedAsmResourceBlob::allocateWithAlign(ArrayRef<char>(memory).drop_front(shift), 1,
                                                    [](void *, size_t, size_t) {}));
    return *Tensor::fromAttr(attr);
  }

  MLIRContext context;
  std::vector<char> memory;
  size_t shift;
};

bool isAligned(const char *data) { return reinterpret_cast<uintptr_t>(data) % sizeof(float) == 0; }

TEST(Tensor, BorrowsWeightsThatAreAligned) {
  Weights weights(4);
  EXPECT_EQ(weights.tensor().data(), weights.memory.data() + 4);
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
  // From now on it has its own.
  weights.set(2, 40);
  EXPECT_EQ(tensor.getDouble(2), 30);
}

TEST(Tensor, CopiesOnceForAll) {
  Weights weights(2);
  Tensor tensor = weights.tensor(), same = tensor;
  Tensor turned = tensor.withType(RankedTensorType::get({2, 2}, tensor.getElementType()));
  std::vector<const char *> seen(8);
  std::vector<std::thread> threads;
  for (const char *&data : seen)
    threads.emplace_back([&data, tensor] { data = tensor.data(); });
  for (std::thread &thread : threads)
    thread.join();
  for (const char *data : seen)
    EXPECT_EQ(data, same.data());
  EXPECT_EQ(turned.data(), same.data());
  EXPECT_EQ(turned.getDouble(3), 4);
}

TEST(Tensor, KeepsTheCopyWhenTheWeightsGo) {
  Tensor read, again;
  {
    Weights weights(1);
    read = weights.tensor();
    again = read;
    ASSERT_TRUE(isAligned(read.data()));
    std::fill(weights.memory.begin(), weights.memory.end(), 0);
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

/// Candidates are tried in processes of their own.
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

} // namespace
} // namespace dlc::ref

//===- lookup.cpp - table lookups of 256 bytes with any number of lanes ---===//
#include "test/codegen/Jit.h"
#include "test/codegen/Targets.h"

#include "codegen/cpu/math/Lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir;
using namespace dlc;

namespace {

class Lookup : public testing::TestWithParam<int64_t> {};

/// out[i] = table[in[i]] for `lanes` elements at once. Memory after the output must not change.
TEST_P(Lookup, GivesTheTablesElement) {
  const int64_t lanes = GetParam();
  std::vector<int8_t> table(256), in(256 * size_t(lanes)), out(in.size() + 64, 77);
  std::mt19937 random(7);
  std::iota(table.begin(), table.end(), int8_t(-128));
  std::shuffle(table.begin(), table.end(), random);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = int8_t(i < 256 ? i : random());
  for (const cpu::Target &target : test::targets()) {
    test::Kernel kernel(target, [&](OpBuilder &b, Location loc, ValueRange args) {
      Type pointer = LLVM::LLVMPointerType::get(b.getContext()), byte = b.getI8Type();
      Type type = lanes == 1 ? byte : VectorType::get({lanes}, byte);
      SmallVector<Value> buffers;
      for (int i = 0; i < 2; ++i)
        buffers.push_back(LLVM::LoadOp::create(
            b, loc, pointer,
            LLVM::GEPOp::create(b, loc, pointer, pointer, args[0], ArrayRef<LLVM::GEPArg>{i})));
      Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
      Value width = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(lanes));
      auto loop = scf::ForOp::create(b, loc, args[1], args[2], one);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value offset = arith::MulIOp::create(b, loc, loop.getInductionVar(), width);
      auto at = [&](Value buffer) -> Value {
        return LLVM::GEPOp::create(b, loc, pointer, byte, buffer, ArrayRef<LLVM::GEPArg>{offset});
      };
      Value x = LLVM::LoadOp::create(b, loc, type, at(buffers[0]), 1);
      auto attribute =
          DenseElementsAttr::get(RankedTensorType::get({256}, byte), ArrayRef<int8_t>(table));
      LLVM::StoreOp::create(b, loc, cpu::emitLookup(b, loc, target, x, attribute), at(buffers[1]),
                            1);
    });
    std::fill(out.begin(), out.end(), 77);
    kernel({in.data(), out.data()}, 0, 256);
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], table[uint8_t(in[i])]) << "at " << i << " for " << target.cpu;
    for (size_t i = in.size(); i < out.size(); ++i)
      ASSERT_EQ(out[i], 77) << "behind the end, for " << target.cpu;
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, Lookup, testing::Values(1, 2, 7, 16, 31, 32, 33, 64, 100));

} // namespace

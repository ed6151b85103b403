//===- RandomPlacementTest.cpp - random placed graphs have the same results ===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "test/passes/place/Count.h"
#include "test/passes/place/RandomGraph.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;

namespace dlc::placetest {
namespace {

class Placement : public ::testing::Test {
protected:
  Placement() {
    context.loadDialect<DlcDialect, func::FuncDialect>();
    context.disableMultithreading();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  static func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

  bool run(ModuleOp module, std::vector<std::unique_ptr<Pass>> passes) {
    PassManager manager(&context, ModuleOp::getOperationName());
    for (std::unique_ptr<Pass> &pass : passes)
      manager.addPass(std::move(pass));
    return succeeded(manager.run(module)) && succeeded(verify(module));
  }
  bool place(ModuleOp module, const ModelOptions &options = {}) {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(createPlacePass(options));
    passes.push_back(createVerifyPlacementPass());
    return run(module, std::move(passes));
  }

  std::vector<ref::Tensor> inputsFor(func::FuncOp function, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<ref::Tensor> inputs;
    for (Type type : function.getArgumentTypes()) {
      ref::Tensor x = ref::Tensor::empty(cast<RankedTensorType>(type));
      for (int64_t i = 0; i < x.size(); ++i)
        x.setDouble(i, double(int64_t(random() % 2001) - 1000) / 250);
      inputs.push_back(x);
    }
    return inputs;
  }

  /// Returns the bytes of all results.
  std::vector<std::string> evaluate(ModuleOp module, uint64_t seed) {
    func::FuncOp function = mainOf(module);
    SmallVector<ref::Tensor> outputs;
    std::vector<std::string> bytes;
    if (failed(ref::evaluate(function, inputsFor(function, seed), outputs)))
      return {"failed"};
    for (const ref::Tensor &y : outputs)
      bytes.emplace_back(y.data(), size_t(y.bytes()));
    return bytes;
  }

  /// Checks that no value is transferred to the same device twice, and that no transfer is in a
  /// loop or branch.
  static std::string wrongTransfer(ModuleOp module) {
    llvm::DenseSet<std::pair<Value, Type>> seen;
    std::string wrong;
    module.walk([&](TransferOp transfer) {
      if (!isa<func::FuncOp>(transfer->getParentOp()))
        wrong = "a transfer in a region";
      if (!seen.insert({transfer.getX(), transfer.getType()}).second)
        wrong = "a value crosses twice";
      if (transfer.getX().getDefiningOp<TransferOp>())
        wrong = "a chain of transfers";
      if (transfer.getX().getDefiningOp<ConstantOp>())
        wrong = "a constant crosses";
    });
    return wrong;
  }

  MLIRContext context;
};

TEST_F(Placement, KeepsTheMeaningOfAThousandGraphsOnThreeDevices) {
  int64_t moved = 0, naive = 0;
  int crossing = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 5 + int(seed % 40);
    options.annotated = int(seed * 7 % 90);
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << text;
    OwningOpRef<ModuleOp> placed = module->clone();
    ASSERT_TRUE(place(*placed)) << text;
    EXPECT_EQ(wrongTransfer(*placed), "") << text;
    EXPECT_EQ(evaluate(*module, seed), evaluate(*placed, seed)) << text;
    int64_t bytes = bytesMoved(mainOf(*placed)), most = bytesMovedNaively(mainOf(*module));
    EXPECT_LE(bytes, most) << text;
    moved += bytes;
    naive += most;
    crossing += bytes > 0;
  }
  // Without enough transfers the test would be meaningless.
  EXPECT_GT(crossing, 700);
  EXPECT_LT(moved * 10, naive * 7);
}

TEST_F(Placement, MovesTheLeastBytesBetweenTwoDevices) {
  int compared = 0, crossing = 0;
  for (uint64_t seed = 5000; seed < 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 2 + int(seed % 11);
    options.devices = 2;
    options.annotated = 20 + int(seed * 3 % 50);
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << text;
    int64_t least = minBytes(mainOf(*module), 12);
    if (least < 0)
      continue;
    OwningOpRef<ModuleOp> placed = module->clone();
    ASSERT_TRUE(place(*placed)) << text;
    EXPECT_EQ(bytesMoved(mainOf(*placed)), least) << text;
    ++compared;
    crossing += least > 0;
  }
  EXPECT_GT(compared, 800);
  EXPECT_GT(crossing, 400);
}

TEST_F(Placement, StandsThroughTheLaterPasses) {
  for (uint64_t seed = 9000; seed < 9100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 10 + int(seed % 30);
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parse(text);
    OwningOpRef<ModuleOp> later = module->clone();
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(createRememberDevicesPass());
    passes.push_back(createSimplifyPass());
    passes.push_back(createPlacePass());
    passes.push_back(createVerifyPlacementPass());
    passes.push_back(createSimplifyPass());
    passes.push_back(createDecomposePass());
    passes.push_back(createFusePass());
    passes.push_back(createVerifyPlacementPass());
    ASSERT_TRUE(run(*later, std::move(passes))) << text;
    EXPECT_EQ(evaluate(*module, seed), evaluate(*later, seed)) << text;
  }
}

TEST_F(Placement, KeepsWithinTheMemoryGiven) {
  int spread = 0, whole = 0, refused = 0;
  for (uint64_t seed = 7000; seed < 7100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 30;
    options.annotated = 0;
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parse(text);
    OwningOpRef<ModuleOp> placed = module->clone();
    // The memory limits are too small for some graphs, which must be rejected with an error.
    ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
    ModelOptions place;
    place.place = {"auto:cpu=300B,cpu:1=300B,cpu:2"};
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(createPlacePass(place));
    passes.push_back(createVerifyPlacementPass());
    if (!run(*placed, std::move(passes))) {
      ++refused;
      continue;
    }
    EXPECT_EQ(evaluate(*module, seed), evaluate(*placed, seed)) << text;
    (bytesMoved(mainOf(*placed)) > 0 ? spread : whole) += 1;
  }
  EXPECT_GT(spread, 30);
  EXPECT_LT(refused, 30);
  EXPECT_GT(whole, 10);
}

TEST_F(Placement, SplitsBranches) {
  for (uint64_t seed = 8000; seed < 8100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 25;
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parse(text);
    OwningOpRef<ModuleOp> placed = module->clone();
    ModelOptions place;
    place.place = {"split:cpu,cpu:1,cpu:2"};
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(createPlacePass(place));
    passes.push_back(createVerifyPlacementPass());
    ASSERT_TRUE(run(*placed, std::move(passes))) << text;
    EXPECT_EQ(wrongTransfer(*placed), "") << text;
    EXPECT_EQ(evaluate(*module, seed), evaluate(*placed, seed)) << text;
  }
}

} // namespace
} // namespace dlc::placetest

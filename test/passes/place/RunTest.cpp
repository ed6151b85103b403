//===- RunTest.cpp - random placed graphs, compiled and run ---------------===//
#include "codegen/Pipeline.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Evaluate.h"
#include "runtime/device/Device.h"
#include "runtime/session/Session.h"
#include "runtime/session/state/State.h"
#include "test/passes/place/RandomGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace mlir;

namespace dlc::placetest {
namespace {

ref::Tensor randomTensor(Type type, std::mt19937_64 &random) {
  ref::Tensor x = ref::Tensor::empty(cast<RankedTensorType>(type));
  for (int64_t i = 0; i < x.size(); ++i)
    x.setDouble(i, double(int64_t(random() % 2001) - 1000) / 250);
  return x;
}

/// Returns a description of a difference, or "".
std::string difference(const ref::Tensor &got, const ref::Tensor &want) {
  for (int64_t i = 0; i < want.size(); ++i) {
    double x = got.getDouble(i), y = want.getDouble(i);
    if (std::isnan(x) != std::isnan(y) || std::abs(x - y) > 1e-4 * std::max(1.0, std::abs(y)))
      return "element " + std::to_string(i) + " is " + std::to_string(x) + ", not " +
             std::to_string(y);
  }
  return "";
}

class PlacedRun : public ::testing::Test {
protected:
  PlacedRun() { prepareContext(context); }

  /// Compiles the graph, runs it twice with persistent state, and compares with the reference.
  void check(uint64_t seed, const GraphOptions &options, const CompileOptions &compileOptions,
             const std::string &order) {
    std::string text = randomGraph(seed, options);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    OwningOpRef<ModuleOp> meaning = module->clone();
    auto function = meaning->lookupSymbol<func::FuncOp>("main");
    auto program = compile(*module, compileOptions);
    ASSERT_TRUE(succeeded(program) && *program) << text;
    runtime::SessionOptions sessionOptions;
    sessionOptions.streamOrder = order;
    runtime::Session session(*program, sessionOptions);
    crossing += session.plan().streams.size() > 1;

    std::mt19937_64 random(seed);
    std::vector<ref::Tensor> arguments;
    for (Type type : function.getArgumentTypes())
      arguments.push_back(randomTensor(type, random));
    for (unsigned i = 0; i < arguments.size(); ++i)
      if (function.getArgAttr(i, "dlc.state"))
        session.states().set(session.states().indexOf(nameOf(function.getArgAttrDict(i))),
                             arguments[i].data());
    for (int run = 0; run < 2; ++run) {
      SmallVector<ref::Tensor> want;
      ASSERT_TRUE(succeeded(ref::evaluate(function, arguments, want)));
      std::vector<const void *> inputs;
      for (unsigned i = 0; i < arguments.size(); ++i)
        if (!function.getArgAttr(i, "dlc.state"))
          inputs.push_back(arguments[i].data());
      std::vector<ref::Tensor> got;
      std::vector<void *> outputs;
      for (const ref::Tensor &y : want) {
        got.push_back(ref::Tensor::empty(y.getType()));
        std::memset(got.back().mutableData(), 0x5b, size_t(y.bytes()));
      }
      for (unsigned i = 0; i < got.size(); ++i)
        if (!function.getResultAttr(i, "dlc.state"))
          outputs.push_back(got[i].mutableData());
      session.run(inputs, outputs);
      for (unsigned i = 0; i < got.size(); ++i) {
        if (function.getResultAttr(i, "dlc.state")) {
          std::string name = nameOf(function.getResultAttrDict(i));
          session.states().get(session.states().indexOf(name), got[i].mutableData());
          for (unsigned a = 0; a < arguments.size(); ++a)
            if (function.getArgAttr(a, "dlc.state") && nameOf(function.getArgAttrDict(a)) == name)
              arguments[a] = got[i];
        }
        EXPECT_EQ(difference(got[i], want[i]), "") << "run " << run << ", result " << i << "\n"
                                                   << text;
      }
    }
  }

  static std::string nameOf(DictionaryAttr attributes) {
    return attributes.getAs<StringAttr>("dlc.name").str();
  }

  MLIRContext context;
  int crossing = 0;
};

TEST_F(PlacedRun, IsWhatTheReferenceSays) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.operations = 5 + int(seed % 30);
    options.annotated = int(seed * 7 % 90);
    // Streams run immediately, or in any order that events permit. Memory of other devices is
    // inaccessible.
    std::string number = std::to_string(seed);
    const std::string orders[] = {"", "late:0", "random:" + number};
    check(seed, options, {}, orders[seed % 3]);
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
  EXPECT_GT(crossing, 700);
}

/// Runs graphs on real or emulated GPUs if there are at least two. PLACED_RUNS is the number of
/// graphs, each of which has different kernels.
TEST_F(PlacedRun, OnGpus) {
  if (runtime::deviceCount("cuda") < 2)
    GTEST_SKIP() << "fewer than two GPUs";
  const char *asked = std::getenv("PLACED_RUNS"), *cache = std::getenv("DLC_CACHE_DIR");
  uint64_t runs = asked ? std::strtoull(asked, nullptr, 10) : 5;
  CompileOptions compileOptions;
  compileOptions.cacheDir = cache ? cache : "";
  for (uint64_t seed = 0; seed < runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.kind = "cuda";
    options.operations = 5 + int(seed * 3 % 30);
    options.annotated = 30 + int(seed * 7 % 60);
    check(seed, options, compileOptions, "");
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
  EXPECT_GT(crossing, 0);
}

TEST_F(PlacedRun, SplitsBranches) {
  for (uint64_t seed = 3000; seed < 3100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphOptions options;
    options.annotated = 0;
    CompileOptions compileOptions;
    compileOptions.place = {"split:cpu,cpu:1"};
    check(seed, options, compileOptions, "");
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
  EXPECT_GT(crossing, 50);
}

} // namespace
} // namespace dlc::placetest

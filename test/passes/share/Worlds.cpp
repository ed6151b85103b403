//===- Worlds.cpp - compares a function split over ranks with the original -----===//
//
//   dlc_split_worlds FILE.mlir RANKS PATTERN=WHERE...
//
// Evaluates @main unsplit, then split: by the reference evaluator on RANKS ranks, and compiled on
// ranks that are threads. Prints the largest difference of any output on any rank, relative to the
// largest value of that output. Integer arguments with `dlc.classes` have values below that number.
//
//===----------------------------------------------------------------------------===//
#include "codegen/Pipeline.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/World.h"
#include "runtime/collective/World.h"
#include "runtime/session/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

using namespace mlir;
using dlc::ref::Tensor;

namespace {

using Values = SmallVector<Tensor>;

dlc::CompileOptions optionsFor(int ranks, ArrayRef<std::string> split, dlc::Phase to) {
  dlc::CompileOptions options;
  options.cacheDir = "";
  options.threads = 1;
  options.accuracy = "strict";
  options.world = ranks;
  options.split.assign(split.begin(), split.end());
  options.to = to;
  return options;
}

Tensor someValue(Type type, int64_t classes, std::mt19937 &random) {
  Tensor x = Tensor::empty(cast<RankedTensorType>(type));
  std::normal_distribution<double> values(0, 0.5);
  for (int64_t i = 0; i < x.size(); ++i)
    if (x.isFloat())
      x.setDouble(i, values(random));
    else
      x.setInt(i, int64_t(random() % uint64_t(classes)));
  return x;
}

/// Returns the rank's part of an argument, copied element by element, if the argument's type is
/// that of a part. Else returns the whole argument.
Tensor partOf(func::FuncOp function, unsigned argument, const Tensor &whole, int64_t rank) {
  auto part = function.getArgAttrOfType<DenseI64ArrayAttr>(argument, "dlc.part");
  if (!part)
    return whole;
  Tensor mine = Tensor::empty(cast<RankedTensorType>(function.getArgumentTypes()[argument]));
  int64_t inner = 1, size = mine.getShape()[size_t(part[0])], share = size / part[2];
  for (int64_t d : mine.getShape().drop_front(size_t(part[0]) + 1))
    inner *= d;
  for (int64_t i = 0; i < mine.size(); ++i) {
    int64_t at = i / inner % size, outer = i / (inner * size);
    int64_t from = (at / share * part[1] + rank) * share + at % share;
    mine.setDouble(i, whole.getDouble((outer * size * part[1] + from) * inner + i % inner));
  }
  return mine;
}

double difference(const Tensor &a, const Tensor &b) {
  double largest = 1e-6, worst = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(a.getDouble(i)));
    double d = std::fabs(a.getDouble(i) - b.getDouble(i));
    worst = d <= worst ? worst : d; // `worst` becomes NaN if a difference is NaN
  }
  return worst / largest;
}

void report(const char *what, ArrayRef<Tensor> wanted, ArrayRef<Values> found) {
  double worst = 0;
  for (const Values &rank : found)
    for (size_t i = 0; i < wanted.size(); ++i)
      if (double d = difference(wanted[i], rank[i]); !(d <= worst))
        worst = d;
  std::printf("%zu ranks, %s: %s (%.1e)\n", found.size(), what, worst < 1e-5 ? "agree" : "differ",
              worst);
}

std::vector<Values> run(const std::shared_ptr<dlc::runtime::Program> &program,
                        ArrayRef<Values> inputs, ArrayRef<Tensor> like) {
  auto worlds = dlc::runtime::createLoopbackWorlds(int(inputs.size()));
  std::vector<Values> outputs(inputs.size());
  std::vector<std::string> errors(inputs.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < inputs.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<dlc::runtime::World> world = std::move(worlds[rank]);
      try {
        dlc::runtime::SessionOptions options;
        options.threads = 1;
        options.world = world.get();
        dlc::runtime::Session session(program, options);
        std::vector<const void *> from;
        std::vector<void *> to;
        for (const Tensor &input : inputs[rank])
          from.push_back(input.data());
        for (const Tensor &each : like)
          outputs[rank].push_back(Tensor::empty(each.getType()));
        for (Tensor &output : outputs[rank])
          to.push_back(output.mutableData());
        session.run(from, to);
      } catch (const std::exception &error) {
        errors[rank] = error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty()) {
      std::fprintf(stderr, "dlc_split_worlds: %s\n", error.c_str());
      std::exit(1);
    }
  return outputs;
}

int check(MLIRContext &context, const char *path, int ranks, ArrayRef<std::string> names) {
  OwningOpRef<ModuleOp> whole = parseSourceFile<ModuleOp>(path, &context);
  if (!whole)
    return 1;
  OwningOpRef<ModuleOp> split = whole->clone(), compiled = whole->clone();
  if (failed(dlc::compile(*whole, optionsFor(0, {}, dlc::Phase::Grad))) ||
      failed(dlc::compile(*split, optionsFor(ranks, names, dlc::Phase::Grad))))
    return 1;
  auto main = whole->lookupSymbol<func::FuncOp>("main"),
       local = split->lookupSymbol<func::FuncOp>("main");
  std::mt19937 random(5);
  Values inputs, wanted;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto classes = main.getArgAttrOfType<IntegerAttr>(i, "dlc.classes");
    inputs.push_back(someValue(main.getArgumentTypes()[i], classes ? classes.getInt() : 1, random));
  }
  std::vector<Values> parts(static_cast<size_t>(ranks)), found;
  for (size_t rank = 0; rank < parts.size(); ++rank)
    for (auto [i, input] : llvm::enumerate(inputs))
      parts[rank].push_back(partOf(local, unsigned(i), input, int64_t(rank)));
  if (failed(dlc::ref::evaluate(main, inputs, wanted)) ||
      failed(dlc::ref::evaluateWorld(local, parts, found)))
    return 1;
  report("evaluated", wanted, found);
  auto program = dlc::compile(*compiled, optionsFor(ranks, names, dlc::Phase::Native));
  if (failed(program))
    return 1;
  report("compiled", wanted, run(*program, parts, wanted));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: dlc_split_worlds FILE.mlir RANKS PATTERN=WHERE...\n");
    return 2;
  }
  MLIRContext context;
  dlc::prepareContext(context);
  return check(context, argv[1], std::atoi(argv[2]),
               std::vector<std::string>(argv + 3, argv + argc));
}

//===- Driver.cpp - conformance program: arguments, coverage check, report ---------===//
#include "test/conformance/Isolate.h"

#include "codegen/Pipeline.h"
#include "ir/dlc/Dialect.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <unistd.h>

using namespace dlc::conformance;

namespace {

/// Operations without a case of their own. `fusion` and `yield` occur only in operations that the
/// compiler creates. `transfer`, `reorder` and `transposed_view` are created by the compiler and
/// accept placed types only. The grad phase replaces `gradient`, `custom_gradient` and `cotangent`
/// before an evaluation. test/runtime/collective tests the collective operations. `size` is a
/// constant in a static program.
const std::set<std::string> insideOthers = {
    "dlc.fusion",          "dlc.yield",     "dlc.transfer",        "dlc.reorder",
    "dlc.gradient",        "dlc.cotangent", "dlc.custom_gradient", "dlc.all_reduce",
    "dlc.all_gather",      "dlc.own_rows",  "dlc.reduce_scatter",  "dlc.broadcast_ranks",
    "dlc.transposed_view", "dlc.size"};

/// Returns the operations of the dialect that no case covers.
std::vector<std::string> uncovered(const std::vector<Case> &cases) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  dlc::prepareContext(context);
  context.loadAllAvailableDialects();
  std::set<std::string> named;
  for (const Case &c : cases)
    named.insert("dlc." + c.op);
  std::vector<std::string> missing;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    std::string name = op.getStringRef().str();
    if (op.getDialectNamespace() == "dlc" && !named.count(name) && !insideOthers.count(name))
      missing.push_back(name);
  }
  return missing;
}

/// Parses a compile option. If the option has a value, the value is the next argument. Returns
/// false if there is no such option.
bool takesSetting(dlc::CompileOptions &options, const std::string &name, const char *value,
                  int &at) {
  for (const dlc::Setting &setting : getModelSettings(options))
    if (name == std::string("--") + setting.name && (setting.isFlag() || value)) {
      at += !setting.isFlag();
      std::string problem = setting.set(setting.isFlag() ? "" : value);
      if (!problem.empty())
        std::fprintf(stderr, "conformance: --%s\n", problem.c_str());
      return problem.empty();
    }
  return false;
}

int usage() {
  std::fprintf(stderr,
               "usage: conformance [--filter TEXT,...] [--sample N] [--from K] [--list] [--dump] "
               "[--batch N] [--one-by-one] [--jobs N] [--verbose]\n"
               "and the options of dlc compile, such as --kernels NAME, --accuracy LEVEL and "
               "--device NAME\n");
  return 2;
}

} // namespace

namespace dlc {
int conformanceMain(int argc, char **argv);
}

int dlc::conformanceMain(int argc, char **argv) {
  Choice choice;
  bool list = false, verbose = false;
  RunnerOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    if (choice.takes(a, i + 1 < argc ? argv[i + 1] : nullptr))
      ++i;
    else if (a == "--list")
      list = true;
    else if (a == "--dump")
      options.dump = true;
    else if (a == "--one-by-one")
      options.batch = 1;
    else if (a == "--batch" && i + 1 < argc)
      options.batch = std::max(1, std::atoi(argv[++i]));
    else if (a == "--jobs" && i + 1 < argc)
      options.jobs = std::atoi(argv[++i]);
    else if (a == "--verbose")
      verbose = true;
    else if (!takesSetting(options.compile, a, i + 1 < argc ? argv[i + 1] : nullptr, i))
      return usage();
  }

  std::vector<Case> all;
  addElementwiseCases(all);
  addShapeCases(all);
  addGatherCases(all);
  addReduceCases(all);
  addContractCases(all);
  addWeightCases(all);
  addQuantizeCases(all);
  addQuantizedCases(all);
  addEpilogueCases(all);
  addWindowCases(all);
  addTrainingCases(all);
  addNormCases(all);
  addRecurrentCases(all);
  addControlCases(all);
  addConstantCases(all);

  std::vector<Case> cases = choice.of(all);
  if (list) {
    for (const Case &c : cases)
      std::printf("%s\n", c.name().c_str());
    return 0;
  }
  std::vector<std::string> missing =
      choice.filter.empty() ? uncovered(all) : std::vector<std::string>();
  for (const std::string &name : missing)
    std::printf(
        "FAIL %s: no conformance case; add one to the table of its family in test/conformance\n",
        name.c_str());

  std::map<std::string, std::pair<int, int>> perOp;
  for (const Case &c : cases)
    ++perOp[c.op].first;
  size_t failures = missing.size();
  auto report = [&](const Failure &f) {
    ++failures;
    ++perOp[f.name.substr(0, f.name.find('/'))].second;
    std::printf("FAIL %s: %s\n", f.name.c_str(), f.reason.c_str());
    std::fflush(stdout);
  };
  bool terminal = isatty(2);
  runIsolated(cases, options, report, [&](size_t done) {
    if (terminal)
      std::fprintf(stderr, "\r%zu of %zu", done, cases.size());
  });
  if (terminal)
    std::fprintf(stderr, "\n");
  for (auto &[op, counts] : perOp)
    if (verbose || counts.second)
      std::printf("%-20s %4d cases, %d failed\n", op.c_str(), counts.first, counts.second);
  std::printf("conformance: %zu passed, %zu failed\n", cases.size() + missing.size() - failures,
              failures);
  return failures != 0;
}

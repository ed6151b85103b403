//===- Steps.cpp - a training step on several ranks against the whole batch ---===//
//
//   dlc_step_worlds whole.dlcx part.dlcx RANKS [STEPS]
//
// `part` is the step `whole` for a batch that is RANKS times smaller, data parallel. Both take the
// same samples, `part` on ranks that are threads, in every order of its streams; prints the largest
// difference of losses and states, relative to the largest number of each tensor.
//
//===----------------------------------------------------------------------------------===//
#include "StepRanks.h"

#include "runtime/program/Checker.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace dlc::runtime;
using namespace dlc::test;

namespace {

/// Other devices than the host's run their streams as late as they like.
std::vector<std::string> ordersOf(const Program &program) {
  const Plan plan = checkProgram(program);
  std::vector<std::string> orders{"", "first:0", "first:1"};
  if (std::all_of(plan.devices.begin(), plan.devices.end(),
                  [](const DeviceInfo &device) { return device.isWalked(); }))
    orders = {"", "late:0", "late:1", "random:3"};
  return orders;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: dlc_step_worlds whole.dlcx part.dlcx RANKS [STEPS]\n");
    return 2;
  }
  try {
    auto whole = std::make_shared<const Program>(readProgram(argv[1]));
    auto part = std::make_shared<const Program>(readProgram(argv[2]));
    const size_t ranks = size_t(std::atoi(argv[3]));
    const Batches batches = someBatches(whole, argc > 4 ? std::atoi(argv[4]) : 5);
    const Results expected = runAlone(whole, batches);
    for (const std::string &order : ordersOf(*part)) {
      std::vector<Results> found = runOnRanks(ranks, part, batches, order);
      double outputs = 0, states = 0;
      bool alike = true;
      for (const Results &one : found) {
        outputs = std::max(outputs, difference(expected.outputs, one.outputs));
        states = std::max(states, difference(expected.states, one.states));
        alike = alike && one == found[0];
      }
      std::printf("%zu ranks, order '%s': outputs %s, states %s, ranks %s (%.1e, %.1e)\n", ranks,
                  order.c_str(), outputs < 1e-5 ? "agree" : "differ",
                  states < 1e-5 ? "agree" : "differ", alike ? "alike" : "differ", outputs, states);
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc_step_worlds: %s\n", error.what());
    return 1;
  }
}

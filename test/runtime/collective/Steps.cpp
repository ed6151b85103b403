//===- Steps.cpp - compares a training step on several ranks with the whole batch ===//
//
//   dlc_step_worlds whole.dlcx part.dlcx RANKS [STEPS]
//
// `part` is the data-parallel version of the step `whole`, with a batch that is RANKS times
// smaller. Both get the same samples. The ranks of `part` are threads and run with every order of
// the program's streams. Prints the largest difference of losses and states, relative to the
// largest value of each tensor. State that is split over the ranks is assembled from the parts of
// all ranks first.
//
//===----------------------------------------------------------------------------------===//
#include "StepRanks.h"

#include "runtime/program/Checker.h"
#include "runtime/program/Reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace dlc::runtime;
using namespace dlc::test;

namespace {

/// Returns the largest relative difference, or infinity if the names of the states differ.
double difference(const std::map<std::string, Bytes> &a, const std::map<std::string, Bytes> &b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (const auto &[name, bytes] : a) {
    auto other = b.find(name);
    double d = other == b.end() ? INFINITY : dlc::test::difference(bytes, other->second);
    worst = d <= worst ? worst : d;
  }
  return worst;
}

/// Returns a hash of all bits of a run's outputs and states.
uint64_t bitsOf(const std::vector<Bytes> &outputs, const std::map<std::string, Bytes> &states) {
  uint64_t hash = 14695981039346656037u;
  auto add = [&](const Bytes &bytes) {
    for (char byte : bytes)
      hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  };
  for (const Bytes &bytes : outputs)
    add(bytes);
  for (const auto &[name, bytes] : states)
    add(bytes);
  return hash;
}

/// Returns the states of all ranks in the form of a single process: split states are concatenated.
std::map<std::string, Bytes> together(const std::vector<Results> &ranks) {
  std::map<std::string, Bytes> states = ranks[0].states;
  for (size_t k = 0; k < ranks[0].shares.size(); ++k) {
    Bytes all;
    for (const Results &rank : ranks)
      all.insert(all.end(), rank.shares[k].second.begin(), rank.shares[k].second.end());
    const StateInfo &info = ranks[0].shares[k].first;
    const size_t size = dlc::dtypeBytes(info.dtype);
    for (const SharedTensor &tensor : info.sharedTensors) {
      const char *first = all.data() + tensor.begin * size;
      states[tensor.name] = Bytes(first, first + tensor.count * size);
    }
  }
  return states;
}

/// Returns the orders of streams to test. Streams of devices other than the host are run by the
/// device, which may run them arbitrarily late.
std::vector<std::string> ordersOf(const Plan &plan) {
  if (std::all_of(plan.devices.begin(), plan.devices.end(),
                  [](const DeviceInfo &device) { return device.isWalked(); }))
    return {"", "late:0", "late:1", "random:3"};
  return {"", "first:0", "first:1"};
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
    for (const std::string &order : ordersOf(checkProgram(*part))) {
      const std::vector<Results> found = runOnRanks(ranks, part, batches, order);
      double outputs = 0, states = 0;
      bool alike = true;
      for (const Results &one : found) {
        outputs = std::max(outputs, difference(expected.outputs, one.outputs));
        alike = alike && one.isLike(found[0]);
      }
      const std::map<std::string, Bytes> all = together(found);
      states = difference(expected.states, all);
      std::printf(
          "%zu ranks, order '%s': outputs %s, states %s, ranks %s (%.1e, %.1e), bits %016llx\n",
          ranks, order.c_str(), outputs < 1e-5 ? "agree" : "differ",
          states < 1e-5 ? "agree" : "differ", alike ? "alike" : "differ", outputs, states,
          static_cast<unsigned long long>(bitsOf(found[0].outputs, all)));
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dlc_step_worlds: %s\n", error.what());
    return 1;
  }
}

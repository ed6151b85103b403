//===- Steps.cpp - a training step on several ranks against the whole batch ---===//
//
//   dlc_step_worlds whole.dlcx part.dlcx RANKS [STEPS]
//
// `part` is the step `whole` for a batch that is RANKS times smaller, data parallel. Both take the
// same samples, `part` on ranks that are threads, in every order of its streams; prints the largest
// difference of losses and states, relative to the largest number of each tensor. Of state that is
// split over ranks, the shares of all are put together.
//
//===----------------------------------------------------------------------------------===//
#include "runtime/collective/World.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Reader.h"
#include "runtime/session/Session.h"
#include "runtime/session/State.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

using namespace dlc::runtime;

namespace {

using Bytes = std::vector<char>;

/// Floats around 0; integers are classes.
Bytes someValue(const TensorInfo &info, int64_t classes, std::mt19937 &random) {
  Bytes bytes(info.bytes);
  if (info.dtype == dlc::DType::I64) {
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      int64_t value = int64_t(random() % uint64_t(classes));
      std::memcpy(bytes.data() + i, &value, 8);
    }
    return bytes;
  }
  std::normal_distribution<float> values(0, 1);
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    float value = values(random);
    std::memcpy(bytes.data() + i, &value, 4);
  }
  return bytes;
}

/// Losses of all steps, then the states that all ranks have alike, and the rank's own shares.
struct Results {
  std::vector<Bytes> outputs;
  std::map<std::string, Bytes> states;
  std::vector<std::pair<StateInfo, Bytes>> shares;
};

struct Batches {
  std::vector<std::vector<Bytes>> steps; ///< whole batches, by input
};

Results runOn(World *world, const std::shared_ptr<const Program> &program, const Batches &batches,
              int rank, const std::string &order) {
  SessionOptions options;
  options.world = world;
  options.threads = 1;
  options.streamOrder = order;
  Session session(program, options);
  const Plan &plan = session.plan();
  Results results;
  for (const std::vector<Bytes> &batch : batches.steps) {
    std::vector<const void *> from;
    std::vector<void *> to;
    for (size_t i = 0; i < batch.size(); ++i)
      from.push_back(batch[i].data() + size_t(rank) * plan.inputs[i].bytes);
    size_t first = results.outputs.size();
    for (const TensorInfo &info : plan.outputs)
      results.outputs.emplace_back(info.bytes);
    for (size_t i = first; i < results.outputs.size(); ++i)
      to.push_back(results.outputs[i].data());
    session.run(from, to);
  }
  for (size_t i = 0; i < plan.states.size(); ++i) {
    Bytes bytes(plan.states[i].bytes);
    session.states().get(i, bytes.data());
    if (plan.states[i].sharers > 0)
      results.shares.emplace_back(plan.states[i], std::move(bytes));
    else
      results.states[plan.states[i].name] = std::move(bytes);
  }
  return results;
}

float at(const Bytes &bytes, size_t i) {
  float value;
  std::memcpy(&value, bytes.data() + 4 * i, 4);
  return value;
}

double difference(const Bytes &a, const Bytes &b) {
  double largest = 1e-6, worst = 0;
  for (size_t i = 0; i < a.size() / 4; ++i) {
    largest = std::max(largest, std::fabs(double(at(a, i))));
    double d = std::fabs(double(at(a, i)) - double(at(b, i)));
    worst = d <= worst ? worst : d; // what is not a number stays
  }
  return worst / largest;
}

double difference(const std::vector<Bytes> &a, const std::vector<Bytes> &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (double d = difference(a[i], b[i]); !(d <= worst))
      worst = d;
  return worst;
}

/// Infinite where one has other states.
double difference(const std::map<std::string, Bytes> &a, const std::map<std::string, Bytes> &b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (const auto &[name, bytes] : a) {
    auto other = b.find(name);
    double d = other == b.end() ? INFINITY : difference(bytes, other->second);
    worst = d <= worst ? worst : d;
  }
  return worst;
}

/// One number of all bits that a run leaves.
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

/// The states of all ranks as one process would have them.
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

/// Other devices than the host's run their streams as late as they like.
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
    Batches batches;
    std::mt19937 random(11);
    {
      Session session(whole);
      int64_t classes = whole->manifest["training"].value("classes", int64_t(1));
      for (int step = 0; step < (argc > 4 ? std::atoi(argv[4]) : 5); ++step) {
        batches.steps.emplace_back();
        for (const TensorInfo &info : session.plan().inputs)
          batches.steps.back().push_back(someValue(info, classes, random));
      }
    }
    World alone;
    Results expected = runOn(&alone, whole, batches, 0, "");
    for (const std::string &order : ordersOf(checkProgram(*part))) {
      auto worlds = loopbackWorlds(int(ranks));
      std::vector<Results> found(ranks);
      std::vector<std::string> errors(ranks);
      std::vector<std::thread> threads;
      for (size_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
          std::unique_ptr<World> world = std::move(worlds[rank]);
          try {
            found[rank] = runOn(world.get(), part, batches, int(rank), order);
          } catch (const std::exception &error) {
            errors[rank] = error.what();
          }
        });
      for (std::thread &thread : threads)
        thread.join();
      for (const std::string &error : errors)
        if (!error.empty())
          throw dlc::Error(error);
      double outputs = 0, states = 0;
      bool alike = true;
      for (const Results &one : found) {
        outputs = std::max(outputs, difference(expected.outputs, one.outputs));
        alike = alike && one.states == found[0].states && one.outputs == found[0].outputs;
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

//===- StepRanks.cpp - training steps on ranks that are threads ---------------===//
#include "StepRanks.h"

#include "dlc/Error.h"
#include "runtime/session/Session.h"
#include "runtime/session/state/State.h"

#include <cmath>
#include <cstring>
#include <random>
#include <thread>

using namespace dlc::runtime;

namespace dlc::test {

namespace {

/// Returns random floats near 0. Integers are class indices.
Bytes someValue(const TensorInfo &info, size_t parts, int64_t classes, std::mt19937 &random) {
  Bytes bytes(info.bytes * parts);
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

Results runOn(World *world, const std::shared_ptr<const Program> &program, const Batches &batches,
              int rank, const std::string &order, std::optional<double> bucketBytes) {
  SessionOptions options;
  options.world = world;
  options.bucketBytes = bucketBytes;
  options.threads = 1;
  options.streamOrder = order;
  Session session(program, options);
  const Plan &plan = session.plan();
  Results results;
  for (const std::vector<Bytes> &batch : batches) {
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

} // namespace

double difference(const Bytes &a, const Bytes &b) {
  double largest = 1e-6, worst = 0;
  for (size_t i = 0; i < a.size() / 4; ++i) {
    largest = std::max(largest, std::fabs(double(at(a, i))));
    double d = std::fabs(double(at(a, i)) - double(at(b, i)));
    worst = d <= worst ? worst : d; // `worst` becomes NaN if a difference is NaN
  }
  return worst / largest;
}

Batches someBatches(const std::shared_ptr<const Program> &program, int steps, size_t parts) {
  Session session(program);
  int64_t classes = program->manifest["training"].value("classes", int64_t(1));
  std::mt19937 random(11);
  Batches batches(static_cast<size_t>(steps));
  for (std::vector<Bytes> &batch : batches)
    for (const TensorInfo &info : session.plan().inputs)
      batch.push_back(someValue(info, parts, classes, random));
  return batches;
}

Results runAlone(const std::shared_ptr<const Program> &program, const Batches &batches) {
  World alone;
  return runOn(&alone, program, batches, 0, "", {});
}

std::vector<Results> runOnRanks(size_t ranks, const std::shared_ptr<const Program> &program,
                                const Batches &batches, const std::string &order,
                                std::optional<double> bucketBytes) {
  auto worlds = createLoopbackWorlds(int(ranks));
  std::vector<Results> found(ranks);
  std::vector<std::string> errors(ranks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<World> world = std::move(worlds[rank]);
      try {
        found[rank] = runOn(world.get(), program, batches, int(rank), order, bucketBytes);
      } catch (const std::exception &error) {
        errors[rank] = error.what();
        try {
          world->abort(error.what());
        } catch (const Error &) {
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      throw Error(error);
  return found;
}

double difference(const std::vector<Bytes> &a, const std::vector<Bytes> &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (double d = difference(a[i], b[i]); !(d <= worst))
      worst = d;
  return worst;
}

} // namespace dlc::test

//===- Parallel.cpp - data-parallel replicas and pipelined micro-batches of a module --===//
#include "dlc/parallel.hpp"

#include "frontend/trace/State.h"

#include <optional>

namespace dlc {

namespace {
/// Scope of a data-parallel replica, during which parameters are read on the given device.
class ReplicaScope {
public:
  ReplicaScope(const Device &device, bool isFirst) : state(*trace::State::current()) {
    state.replicas.push_back({device, isFirst});
  }
  ~ReplicaScope() { state.replicas.pop_back(); }
  ReplicaScope(const ReplicaScope &) = delete;

private:
  trace::State &state;
};
} // namespace

Parts::Parts(const Module &model, Call call, std::vector<Device> given, int64_t parts)
    : Module(model), call(std::move(call)), devices(std::move(given)), parts(parts) {
  if (parts < 1)
    throw Error("a batch must be split into 1 part or more; found " + std::to_string(parts) +
                (devices.empty() ? "; name at least one device, as in {\"cpu\", \"cpu:1\"}" : ""));
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (devices[i] == devices[j])
        throw Error("data_parallel: the devices must differ; found " + devices[i].name() +
                    " twice");
  if (!devices.empty())
    to(devices[0]);
}

trace::Tensor Parts::forward(Tensor x) {
  trace::Shape shape = x.shape();
  if (shape.empty() || shape[0] == trace::kDynamic || shape[0] < 1) {
    trace::Operand operand(x);
    trace::ApiCall(devices.empty() ? "micro_batches" : "data_parallel", {&operand})
        .fail("the first size must be known, and 1 or more, for the batch to be split; found ",
              trace::shapeText(shape), "; give the traced inputs static shapes");
  }
  // The sizes of the parts differ by at most one row. If the batch has fewer rows than there are
  // parts, the last parts are omitted.
  const int64_t count = std::min<int64_t>(parts, shape[0]);
  std::vector<Tensor> results;
  for (int64_t part = 0; part < count; ++part) {
    const int64_t start = shape[0] * part / count, end = shape[0] * (part + 1) / count;
    Tensor mine = narrow(x, 0, start, end - start);
    if (devices.empty()) {
      results.push_back(call(mine));
      continue;
    }
    const Device &device = devices[size_t(part)];
    mine = mine.to(device);
    ReplicaScope replica(device, part == 0);
    results.push_back(call(mine).to(devices[0]));
  }
  return trace::cat(results, 0);
}

} // namespace dlc

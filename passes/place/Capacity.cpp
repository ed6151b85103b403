//===- Capacity.cpp - placement within the memory capacities of devices ---===//
#include "passes/place/Solve.h"

#include <algorithm>

namespace dlc::place {
namespace {

/// Assigns contiguous ranges of the program to the devices in turn, within their memory capacities,
/// and then moves single nodes while that lowers the energy.
class CapacityFill {
public:
  explicit CapacityFill(const PlacementProblem &problem) : problem(problem) {
    for (unsigned node = 0; node < problem.nodes.size(); ++node)
      if (problem.nodes[node].fixed < 0)
        order.push_back(node);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return problem.nodes[a].position < problem.nodes[b].position;
    });
    devices.push_back(problem.preferred);
    for (int label = 0; label < int(problem.labels); ++label)
      if (problem.allowed[size_t(label)] && label != problem.preferred)
        devices.push_back(label);
  }

  std::optional<Labels> run() {
    std::vector<size_t> ends; // end of each device's range of nodes, except the last one's
    for (size_t device = 0; device + 1 < devices.size(); ++device) {
      std::vector<size_t> chosen = withGreedyRest(ends);
      Cost least = problem.energy(labelsOf(chosen));
      bool found = problem.fits(labelsOf(chosen));
      size_t begin = ends.empty() ? 0 : ends.back(), most = chosen[device];
      size_t step = std::max<size_t>(1, (most - begin) / kTried);
      size_t best = most;
      for (size_t end = begin; end <= most; end += step) {
        ends.push_back(end);
        Labels at = labelsOf(withGreedyRest(ends));
        ends.pop_back();
        if (!problem.fits(at))
          continue;
        if (Cost energy = problem.energy(at); !found || energy < least) {
          found = true;
          least = energy;
          best = end;
        }
      }
      ends.push_back(best);
    }
    Labels at = labelsOf(ends);
    if (!problem.fits(at))
      return std::nullopt;
    improve(at);
    return at;
  }

private:
  static constexpr size_t kTried = 64;
  static constexpr double kMaxWork = 3e8;

  Labels labelsOf(const std::vector<size_t> &ends) const {
    Labels at = problem.allAt(devices.back());
    size_t device = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      while (device < ends.size() && i >= ends[device])
        ++device;
      at[order[i]] = devices[std::min(device, devices.size() - 1)];
    }
    return at;
  }

  /// Keeps the given ends of ranges, and extends the range of each remaining device as far as its
  /// memory capacity allows.
  std::vector<size_t> withGreedyRest(std::vector<size_t> ends) const {
    while (ends.size() + 1 < devices.size()) {
      int label = devices[ends.size()];
      size_t low = ends.empty() ? 0 : ends.back(), high = order.size();
      while (low < high) {
        size_t middle = (low + high + 1) / 2;
        ends.push_back(middle);
        int64_t most = problem.memory(labelsOf(ends))[size_t(label)];
        ends.pop_back();
        if (!problem.capacity[size_t(label)] || most <= problem.capacity[size_t(label)])
          low = middle;
        else
          high = middle - 1;
      }
      ends.push_back(low);
    }
    return ends;
  }

  void improve(Labels &at) const {
    double each = double(problem.nets.size() + problem.nodes.size());
    if (each * double(order.size() * devices.size()) > kMaxWork)
      return;
    Cost energy = problem.energy(at);
    for (unsigned node : order)
      for (int label : devices) {
        int old = at[node];
        at[node] = label;
        Cost found = label == old ? energy : problem.energy(at);
        if (found < energy && problem.fits(at))
          energy = found;
        else
          at[node] = old;
      }
  }

  const PlacementProblem &problem;
  std::vector<unsigned> order;
  std::vector<int> devices;
};

} // namespace

std::optional<Labels> solveWithinCapacity(const PlacementProblem &problem) {
  Labels best = solvePlacement(problem);
  if (problem.fits(best))
    return best;
  return CapacityFill(problem).run();
}

} // namespace dlc::place

//===- Problem.h - placement as a graph problem: nodes, nets, labels ------===//
#ifndef DLC_PASSES_PLACE_PROBLEM_H
#define DLC_PASSES_PLACE_PROBLEM_H

#include "passes/place/MinCut.h"

#include <vector>

namespace dlc::place {

/// Unit of placement, which gets one label (device): an operation, an argument, or a device on
/// which outputs are returned.
struct PlacementNode {
  int fixed = -1; ///< required label; -1: the node is free
  /// Index of the node's operation in program order; 0 for arguments.
  unsigned position = 0;
  /// Index of the node that defines the first operand other than constants and scalars; -1 if there
  /// is none.
  int first = -1;
  /// Computation time for each label in picoseconds; empty if it is the same for all labels.
  std::vector<int64_t> work = {};
};

/// Value that is defined by one node and used by others. It is transferred once to each other label
/// that uses it.
struct Net {
  enum Kind {
    Data,
    Scalar,  ///< rank 0: its bytes are not counted
    Constant ///< copied at compile time to each label that uses it, so never transferred
  };
  unsigned def = 0;
  int64_t bytes = 0;
  Kind kind = Data;
  /// Whether the value is in memory for the whole run, as arguments and constants are.
  bool resident = false;
  std::vector<unsigned> users = {};
  /// Position (in program order) of the last use of the value.
  unsigned last = 0;
};

/// Assignment of labels (device indices), by node.
using Labels = std::vector<int>;

struct PlacementProblem {
  unsigned labels = 1;
  std::vector<PlacementNode> nodes;
  std::vector<Net> nets;
  std::vector<bool> allowed;     ///< whether free nodes may have the label
  int preferred = 0;             ///< label that is preferred at equal cost
  std::vector<int64_t> capacity; ///< memory limit of each label in bytes; 0: unlimited
  /// Transfer cost per byte and per transfer, in picoseconds (or in bytes, if the objective is the
  /// bytes transferred), indexed by from * labels + to.
  std::vector<int64_t> perByte, perMove;

  /// Returns the cost of one transfer of the net between two labels, in picoseconds or bytes.
  int64_t moving(const Net &net, int from, int to) const;
  Cost edge(const Net &net, int from, int to) const;
  /// Returns the computation cost of a free node with the given label.
  Cost unary(unsigned node, int label) const;
  Cost energy(const Labels &at) const;
  /// Returns the number of bytes transferred between labels by this assignment.
  int64_t crossing(const Labels &at) const;
  /// Returns an estimate of the peak memory of each label in bytes for this assignment.
  std::vector<int64_t> memory(const Labels &at) const;
  bool fits(const Labels &at) const;

  /// Returns the assignment that gives all free nodes one label.
  Labels allAt(int label) const;
  /// Returns the assignment that gives each free node the label of its first operand.
  Labels naive() const;
};

/// Calls f(label) once for each label that uses the net, other than the label of the net's
/// definition.
template <typename F>
void forEachTransferTarget(const PlacementProblem &problem, const Net &net, const Labels &at, F f) {
  uint64_t seen = uint64_t(1) << at[net.def];
  for (unsigned user : net.users)
    if (uint64_t bit = uint64_t(1) << at[user]; !(seen & bit)) {
      seen |= bit;
      f(at[user]);
    }
}
/// Maximum number of labels (devices), because sets of labels are bits of a 64-bit word.
constexpr unsigned kMaxLabels = 64;

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_PROBLEM_H

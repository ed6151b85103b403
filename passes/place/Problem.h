//===- Problem.h - placement without the program: nodes, nets, labels -----===//
#ifndef DLC_PASSES_PLACE_PROBLEM_H
#define DLC_PASSES_PLACE_PROBLEM_H

#include "passes/place/MinCut.h"

#include <vector>

namespace dlc::place {

/// What goes to one device as a whole: an operation, or an argument that may stand anywhere.
struct Node {
  int fixed = -1; ///< its label; -1: free
  /// Where it stands in the program.
  unsigned position = 0;
  /// The node that makes its first operand; -1 where there is none.
  int first = -1;
  /// Picoseconds of its work for each label; empty: the same everywhere.
  std::vector<int64_t> work = {};
};

/// A value: made by one node, used by others. It goes once to each other label that uses it.
struct Net {
  enum Kind {
    Data,
    Scalar,  ///< its bytes count for nothing
    Constant ///< stands where it is used: nothing moves
  };
  unsigned def = 0;
  int64_t bytes = 0;
  Kind kind = Data;
  /// In memory from the first to the last command.
  bool resident = false;
  std::vector<unsigned> users = {};
  /// The position of its last use.
  unsigned last = 0;
};

/// A label for each node.
using Labels = std::vector<int>;

struct Problem {
  unsigned labels = 1;
  std::vector<Node> nodes;
  std::vector<Net> nets;
  std::vector<bool> allowed;     ///< for free nodes, by label
  int preferred = 0;             ///< the label where all else is equal
  std::vector<int64_t> capacity; ///< bytes by label; 0: as many as it takes
  /// Picoseconds (or just bytes, where only those count) of moving: by from * labels + to.
  std::vector<int64_t> perByte, perMove;

  /// What a net costs to move, without regard to the number of moves.
  int64_t moving(const Net &net, int from, int to) const;
  Cost edge(const Net &net, int from, int to) const;
  /// What a free node costs where it stands.
  Cost unary(unsigned node, int label) const;
  Cost energy(const Labels &at) const;
  /// Bytes that cross.
  int64_t crossing(const Labels &at) const;
  /// The most bytes that each label holds at once, by estimate.
  std::vector<int64_t> memory(const Labels &at) const;
  bool fits(const Labels &at) const;

  /// Free nodes all at one label; an allowed one.
  Labels allAt(int label) const;
  /// Free nodes where their first operand is made.
  Labels naive() const;
};

/// Calls f(label) once for each label, other than the net's own, that uses it.
template <typename F>
void forEachDestination(const Problem &problem, const Net &net, const Labels &at, F f) {
  uint64_t seen = uint64_t(1) << at[net.def];
  for (unsigned user : net.users)
    if (uint64_t bit = uint64_t(1) << at[user]; !(seen & bit)) {
      seen |= bit;
      f(at[user]);
    }
}
/// More devices than anybody has; labels are bits of a word.
constexpr unsigned kMaxLabels = 64;

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_PROBLEM_H

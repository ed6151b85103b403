//===- RandomGraph.h - functions with random annotations ------------------===//
#ifndef DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H
#define DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H

#include <cstdint>
#include <string>

namespace dlc::placetest {

struct GraphOptions {
  int operations = 20;
  int devices = 3;          ///< cpu, cpu:1 ..
  std::string kind = "cpu"; ///< of all but the first: cpu:1, or cuda:0 ..
  /// Of a hundred operations so many have a device; of a hundred inputs and outputs half as many.
  int annotated = 40;
  bool loops = true;
  bool state = true;
};

/// The text of a module with a function @main; the same seed gives the same text.
std::string randomGraph(uint64_t seed, const GraphOptions &options);

} // namespace dlc::placetest

#endif // DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H

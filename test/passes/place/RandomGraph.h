//===- RandomGraph.h - functions with random device annotations -----------===//
#ifndef DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H
#define DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H

#include <cstdint>
#include <string>

namespace dlc::placetest {

struct GraphOptions {
  int operations = 20;
  int devices = 3;          ///< number of devices: cpu, cpu:1, ...
  std::string kind = "cpu"; ///< kind of all devices but the first: cpu:1, ... or cuda:0, ...
  /// Percentage of operations with a device. Inputs and outputs have half of it.
  int annotated = 40;
  bool loops = true;
  bool state = true;
};

/// Returns the text of a module with a function @main. The same seed gives the same text.
std::string randomGraph(uint64_t seed, const GraphOptions &options);

} // namespace dlc::placetest

#endif // DLC_TEST_PASSES_PLACE_RANDOMGRAPH_H

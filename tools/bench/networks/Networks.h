//===- Networks.h - the benchmark networks, written with the tracer -------===//
#ifndef DLC_TOOLS_BENCH_NETWORKS_H
#define DLC_TOOLS_BENCH_NETWORKS_H

#include "dlc/nn.hpp"

namespace dlc::bench {

/// A benchmark network and the specifications of its inputs. The parameters have the same names as
/// in the corresponding PyTorch module.
struct Network {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
};

/// Returns the names of all benchmark networks: fcn-s, alexnet-s, resnet-50, ...
std::vector<std::string> networkNames();

/// Creates the network of this name. Throws dlc::Error if the name is unknown. A batch of 0 selects
/// the network's default batch size.
Network makeNetwork(const std::string &name, int64_t batch = 0);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCH_NETWORKS_H

//===- Networks.h - the benchmark networks, written with the tracer -------===//
#ifndef DLC_TOOLS_BENCH_NETWORKS_H
#define DLC_TOOLS_BENCH_NETWORKS_H

#include "dlc/nn.hpp"

namespace dlc::bench {

/// A network whose parameters are named as those of the PyTorch module of the same name, and its
/// inputs.
struct Network {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
};

/// fcn-s, alexnet-s, resnet-50, …
std::vector<std::string> networkNames();

/// Throws dlc::Error on an unknown name. Batch 0 stands for the network's usual one.
Network makeNetwork(const std::string &name, int64_t batch = 0);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCH_NETWORKS_H

//===- Training.h - how the benchmark networks are trained ----------------===//
#ifndef DLC_TOOLS_BENCH_NETWORKS_TRAINING_H
#define DLC_TOOLS_BENCH_NETWORKS_TRAINING_H

#include "dlc/step.hpp"
#include "tools/bench/networks/Networks.h"

namespace dlc::bench {

/// A network with its loss, its inputs (the last one the target), and the plain SGD step.
struct Training {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
  /// Targets are below this.
  int64_t classes;
  trace::Tensor (*loss)(const trace::Operand &, const trace::Operand &);
  double rate = 0.01;
  /// 0: none.
  double clipNorm = 0;
};

/// Throws dlc::Error on an unknown name. Batch 0 stands for the usual one.
Training makeTraining(const std::string &name, int64_t batch = 0);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCH_NETWORKS_TRAINING_H

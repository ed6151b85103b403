//===- Training.cpp - training setups of the benchmark networks -----------===//
#include "tools/bench/networks/Training.h"

namespace dlc::bench {

using trace::Operand;
using trace::Tensor;

/// Returns the cross-entropy of logits [N, T, classes], summed over the time steps T and divided by
/// N.
static Tensor sequenceCrossEntropy(const Operand &logits, const Operand &target) {
  Tensor flat = flatten(logits, 0, 1), labels = flatten(target);
  Tensor sum = loss::cross_entropy(flat, labels, {.reduction = loss::Reduction::Sum});
  return sum * (1 / double(logits.tensor.dim(0)));
}

TrainingSetup makeTraining(const std::string &name, int64_t batch) {
  Network network = makeNetwork(name, batch);
  int64_t count = network.inputs[0].shape[0];
  TrainingSetup training{network.module, network.inputs, 1000, loss::cross_entropy};
  trace::Spec target{"t", {count}, DType::I64};
  if (name == "fcn-s")
    training.classes = 26752;
  if (name == "fcn-r" || name == "alexnet-r" || name == "resnet-56")
    training.classes = 10;
  if (name == "bert")
    training.classes = 2;
  if (name == "fcn-r")
    training.rate = 0.05;
  if (name == "lstm") {
    target.shape.push_back(network.inputs[0].shape[1]);
    training.classes = 10000;
    training.loss = sequenceCrossEntropy;
    training.clipNorm = 5;
  }
  training.inputs.push_back(target);
  return training;
}

} // namespace dlc::bench

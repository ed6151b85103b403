//===- parallel.hpp - data-parallel replicas and pipelined micro-batches of a module --===//
//
//   auto net = dlc::data_parallel(Mlp(), {"cpu", "cpu:1"});          // try_all_gpus()
//   auto step = dlc::train(net, dlc::loss::cross_entropy, ...);
//
// A model whose layers are on different devices transfers its tensors itself:
//
//   struct Two : dlc::nn::Module {
//     Linear head = add("head", Linear(64, 256)), tail = add("tail", Linear(256, 10));
//     Two() { tail.to("cpu:1"); }
//     Tensor forward(Tensor x) override { return tail(relu(head(x)).to("cpu:1")); }
//   };
//   auto net = dlc::micro_batches(Two(), 4);      // the devices work on different micro-batches
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PARALLEL_HPP
#define DLC_PARALLEL_HPP

#include "dlc/nn.hpp"

namespace dlc {

/// A module that shares the parameters and names of another module and calls the other module on
/// parts of a batch.
class Parts : public nn::Module {
public:
  Tensor forward(Tensor x) override;

private:
  template <std::derived_from<nn::Module> M>
  friend Parts data_parallel(M model, std::vector<Device> devices);
  template <std::derived_from<nn::Module> M> friend Parts micro_batches(M model, int64_t parts);

  using Call = std::function<Tensor(Tensor)>;
  Parts(const nn::Module &model, Call call, std::vector<Device> devices, int64_t parts);

  Call call;
  /// Device of each part of the batch. If empty, the parts run one after another on the model's own
  /// devices.
  std::vector<Device> devices;
  int64_t parts;
};

/// Data parallelism over devices: splits the batch along its first dimension into one part per
/// device, each with a replica of the model. The results are concatenated on the first device,
/// where the parameters are stored (this call moves them there), so the gradients of all replicas
/// are summed there. Running statistics are updated from the first device's part only.
template <std::derived_from<nn::Module> M>
Parts data_parallel(M model, std::vector<Device> devices) {
  int64_t parts = static_cast<int64_t>(devices.size());
  return Parts(
      model, [model](trace::Tensor x) mutable { return model.forward(x); }, std::move(devices),
      parts);
}

/// Splits the batch into `parts` micro-batches that run one after another. If layers are on
/// different devices, the devices work at the same time, each on another micro-batch. The backward
/// pass takes the micro-batches in reverse order.
template <std::derived_from<nn::Module> M> Parts micro_batches(M model, int64_t parts) {
  return Parts(
      model, [model](trace::Tensor x) mutable { return model.forward(x); }, {}, parts);
}

} // namespace dlc

#endif // DLC_PARALLEL_HPP

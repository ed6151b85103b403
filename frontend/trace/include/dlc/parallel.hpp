//===- parallel.hpp - one module on several devices, or in several parts --===//
//
//   auto net = dlc::data_parallel(Mlp(), {"cpu", "cpu:1"});          // try_all_gpus()
//   auto step = dlc::train(net, dlc::loss::cross_entropy, ...);
//
// A model whose layers are on different devices moves its tensors itself:
//
//   struct Two : dlc::nn::Module {
//     Linear head = add("head", Linear(64, 256)), tail = add("tail", Linear(256, 10));
//     Two() { tail.to("cpu:1"); }
//     Tensor forward(Tensor x) override { return tail(relu(head(x)).to("cpu:1")); }
//   };
//   auto net = dlc::micro_batches(Two(), 4);      // the second half works while the first goes on
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PARALLEL_HPP
#define DLC_PARALLEL_HPP

#include "dlc/nn.hpp"

namespace dlc {

/// A module with the parameters and names of another, which it calls on parts of a batch.
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
  /// One for each part; none: parts follow one another where the model is.
  std::vector<Device> devices;
  int64_t parts;
};

/// The batch split along its first dimension, a part for each device, which has a replica of the
/// model; results come together on the first device, where the parameters live (they are moved
/// there). So gradients of all replicas are summed there. Running statistics are those of the first
/// device's part.
template <std::derived_from<nn::Module> M>
Parts data_parallel(M model, std::vector<Device> devices) {
  int64_t parts = static_cast<int64_t>(devices.size());
  return Parts(
      model, [model](trace::Tensor x) mutable { return model.forward(x); }, std::move(devices),
      parts);
}

/// The batch in so many parts, one after another: where layers are on different devices, these work
/// at the same time, each on another part; forwards, and backwards in the opposite order.
template <std::derived_from<nn::Module> M> Parts micro_batches(M model, int64_t parts) {
  return Parts(
      model, [model](trace::Tensor x) mutable { return model.forward(x); }, {}, parts);
}

} // namespace dlc

#endif // DLC_PARALLEL_HPP

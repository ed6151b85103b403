//===- Networks.cpp - the benchmark networks by name ----------------------===//
#include "tools/bench/networks/Networks.h"

#include "tools/bench/networks/Models.h"

namespace dlc::bench {

namespace {
struct NetworkEntry {
  const char *name;
  int64_t batch;
  /// Shape of one example, without the batch dimension.
  trace::Shape shape;
  DType dtype;
  std::shared_ptr<nn::Module> (*make)();
};

const std::vector<NetworkEntry> &networkEntries() {
  static const std::vector<NetworkEntry> all = {
      {"fcn-s", 64, {26752}, DType::F32, makeFcnS},
      {"alexnet-s", 16, {3, 224, 224}, DType::F32, makeAlexNetS},
      {"resnet-50", 16, {3, 224, 224}, DType::F32, makeResNet50},
      {"fcn-r", 1024, {784}, DType::F32, makeFcnR},
      {"alexnet-r", 128, {3, 32, 32}, DType::F32, makeAlexNetR},
      {"resnet-56", 128, {3, 32, 32}, DType::F32, makeResNet56},
      {"lstm", 128, {32}, DType::I64, makeLstm},
      {"bert", 4, {128}, DType::I64, makeBert},
      {"mobilenet-v2", 1, {3, 224, 224}, DType::F32, makeMobileNetV2},
      {"vit", 1, {3, 224, 224}, DType::F32, makeVit},
  };
  return all;
}
} // namespace

std::vector<std::string> networkNames() {
  std::vector<std::string> names;
  for (const NetworkEntry &entry : networkEntries())
    names.push_back(entry.name);
  return names;
}

Network makeNetwork(const std::string &name, int64_t batch) {
  for (const NetworkEntry &entry : networkEntries())
    if (name == entry.name) {
      trace::Shape shape = entry.shape;
      shape.insert(shape.begin(), batch > 0 ? batch : entry.batch);
      return {entry.make(), {{entry.dtype == DType::I64 ? "ids" : "x", shape, entry.dtype}}};
    }
  std::string known;
  for (const std::string &each : networkNames())
    known += (known.empty() ? "" : ", ") + each;
  throw Error("unknown network '" + name + "'; known: " + known);
}

} // namespace dlc::bench

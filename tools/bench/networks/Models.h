//===- Models.h - one factory function per network ------------------------===//
#ifndef DLC_TOOLS_BENCH_NETWORKS_MODELS_H
#define DLC_TOOLS_BENCH_NETWORKS_MODELS_H

#include "dlc/nn.hpp"

namespace dlc::bench {

std::shared_ptr<nn::Module> makeFcnS();
std::shared_ptr<nn::Module> makeFcnR();
std::shared_ptr<nn::Module> makeAlexNetS();
std::shared_ptr<nn::Module> makeAlexNetR();
std::shared_ptr<nn::Module> makeResNet50();
std::shared_ptr<nn::Module> makeResNet56();
std::shared_ptr<nn::Module> makeMobileNetV2();
std::shared_ptr<nn::Module> makeLstm();
std::shared_ptr<nn::Module> makeBert();
std::shared_ptr<nn::Module> makeVit();

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCH_NETWORKS_MODELS_H

//===- Fcn.cpp - FCN-S and FCN-R: linear layers and sigmoids --------------===//
#include "tools/bench/networks/Models.h"

namespace dlc::bench {

using namespace nn;

std::shared_ptr<Module> makeFcnS() {
  return std::make_shared<Sequential>(Linear(26752, 2048), Sigmoid(), Linear(2048, 2048), Sigmoid(),
                                      Linear(2048, 2048), Sigmoid(), Linear(2048, 26752));
}

std::shared_ptr<Module> makeFcnR() {
  return std::make_shared<Sequential>(Linear(784, 2048), Sigmoid(), Linear(2048, 4096), Sigmoid(),
                                      Linear(4096, 1024), Sigmoid(), Linear(1024, 10));
}

} // namespace dlc::bench

//===- EpilogueTable.cpp - properties of epilogue ops ---------------------===//
#include "runtime/epilogue/EpilogueTable.h"

#include <cmath>
#include <limits>

namespace dlc {

static constexpr ActivationInfo kActivations[] = {
#define ACTIVATION(enumerator, name, exact, preservesZero, formula, onednn, cudnn)                 \
  {name, 0, 0, onednn, cudnn},
#define PARAMETRIC_ACTIVATION(enumerator, name, alpha, beta, preservesZero, formula, onednn,       \
                              cudnn)                                                               \
  {name, alpha, beta, onednn, cudnn},
#include "runtime/epilogue/EpilogueOps.def"
};

const ActivationInfo &infoOf(Activation activation) { return kActivations[size_t(activation)]; }

const EpilogueBinaryInfo &infoOf(EpilogueBinary binary) {
  static constexpr EpilogueBinaryInfo rows[] = {
#define BINARY(enumerator, name, onednn) {name, onednn, false},
#define OWN_BINARY(enumerator, name, onednn) {name, onednn, true},
#include "runtime/epilogue/EpilogueOps.def"
  };
  return rows[size_t(binary)];
}

bool preservesZero(Activation activation, double alpha, double beta) {
  switch (activation) {
#define ACTIVATION(enumerator, name, exact, preservesZero, formula, onednn, cudnn)                 \
  case Activation::enumerator:                                                                     \
    return preservesZero;
#define PARAMETRIC_ACTIVATION(enumerator, name, alphaDefault, betaDefault, preservesZero, formula, \
                              onednn, cudnn)                                                       \
  case Activation::enumerator:                                                                     \
    return preservesZero;
#include "runtime/epilogue/EpilogueOps.def"
  }
  return false;
}

float activationParameter(Activation activation, double value) {
  using Limits = std::numeric_limits<float>;
  bool isUnbounded = activation == Activation::Clip && std::fabs(value) >= Limits::max();
  return isUnbounded ? std::copysign(Limits::infinity(), static_cast<float>(value))
                     : static_cast<float>(value);
}

} // namespace dlc

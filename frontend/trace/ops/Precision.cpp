//===- Precision.cpp - precisions of individual operations ----------------===//
#include "frontend/trace/State.h"

namespace dlc::trace {

Precision::Precision(DType dtype, Location location) {
  ApiCall call("Precision", location);
  if (dtype != DType::F32 && dtype != DType::BF16 && dtype != DType::F16)
    call.fail("the precision must be f32, bf16 or f16; found ", dtypeName(dtype),
              "; cast the tensors to other types");
  state = &call.state();
  state->precisions.emplace_back(dtypeName(dtype));
}

Precision::~Precision() { state->precisions.pop_back(); }

} // namespace dlc::trace

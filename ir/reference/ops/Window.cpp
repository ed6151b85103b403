//===- Window.cpp - iteration over sliding windows ------------------------===//
#include "ir/reference/ops/Window.h"

#include "llvm/Support/MathExtras.h"

namespace dlc::ref {

Shape Window::outputShape(llvm::ArrayRef<int64_t> input) const {
  Shape shape;
  for (size_t d = 0; d < input.size(); ++d) {
    const int64_t extent = (size[d] - 1) * dilations[d] + 1;
    shape.push_back(llvm::divideFloorSigned(input[d] + low[d] + high[d] - extent, strides[d]) + 1);
  }
  return shape;
}

void Window::forEachOutput(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output,
                           llvm::function_ref<void(int64_t, llvm::ArrayRef<Tap>)> f) const {
  std::vector<Tap> taps;
  int64_t position = 0;
  forEachIndex(output, [&](const std::vector<int64_t> &out) {
    taps.clear();
    int64_t place = 0;
    forEachIndex(size, [&](const std::vector<int64_t> &in) {
      int64_t from = 0;
      bool inside = true;
      for (size_t d = 0; d < input.size() && inside; ++d) {
        const int64_t at = out[d] * strides[d] + in[d] * dilations[d] - low[d];
        inside = at >= 0 && at < input[d];
        from = from * input[d] + at;
      }
      if (inside)
        taps.push_back({place, from});
      ++place;
    });
    f(position++, taps);
  });
}

} // namespace dlc::ref

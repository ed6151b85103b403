//===- eager.hpp - operations on tensors, one at a time -----------------------------===//
//
//   dlc::Tensor y = matmul(x, w) + b;
//
// Each is compiled as a model is, once for each set of types, shapes and devices, and runs where
// its tensors are. Tensors must be on one device and of one type; 0-d ones and numbers combine
// freely. To run many operations as one program, trace them (dlc/trace.hpp).
//
//===-------------------------------------------------------------------------------===//
#ifndef DLC_EAGER_HPP
#define DLC_EAGER_HPP

#include "dlc/tensor.hpp"

#include <cstddef>

namespace dlc {

/// A tensor, or a number, which takes the other operand's type and device.
class Value {
public:
  Value(const Tensor &tensor) : tensor(tensor) {}
  Value(double number) : tensor(Tensor::full({}, number, DType::F64)), isNumber(true) {}
  Value(int number) : Value(double(number)) {}

  Tensor tensor;
  bool isNumber = false;
};

// Shapes broadcast as in NumPy.
Tensor operator+(const Tensor &x, const Value &y);
Tensor operator-(const Tensor &x, const Value &y);
Tensor operator*(const Tensor &x, const Value &y);
Tensor operator/(const Tensor &x, const Value &y);
Tensor operator+(double x, const Tensor &y);
Tensor operator-(double x, const Tensor &y);
Tensor operator*(double x, const Tensor &y);
Tensor operator/(double x, const Tensor &y);
Tensor operator-(const Tensor &x);
Tensor maximum(const Tensor &x, const Value &y);
Tensor minimum(const Tensor &x, const Value &y);
Tensor pow(const Tensor &x, const Value &y);

Tensor abs(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor log(const Tensor &x);
Tensor sqrt(const Tensor &x);
Tensor tanh(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor relu(const Tensor &x);
/// Along the last dimension.
Tensor softmax(const Tensor &x);

/// Of all elements, as a 0-d tensor.
Tensor sum(const Tensor &x);
Tensor mean(const Tensor &x);
Tensor max(const Tensor &x);
Tensor min(const Tensor &x);

Tensor matmul(const Tensor &x, const Tensor &y);

/// How many programs operations have been compiled to so far; each runs again for the same
/// signature.
size_t eager_programs();

} // namespace dlc

#endif // DLC_EAGER_HPP

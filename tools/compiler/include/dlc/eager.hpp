//===- eager.hpp - eager execution of single tensor operations ------------===//
//
//   dlc::Tensor y = matmul(x, w) + b;
//
// Each operation is compiled like a model, once for each combination of element types, shapes and
// devices, and runs on the device of its tensors. Tensors must be on the same device and have the
// same element type; 0-d tensors and numbers are converted. To run many operations as one program,
// trace them (dlc/trace.hpp).
//
//===-------------------------------------------------------------------------------===//
#ifndef DLC_EAGER_HPP
#define DLC_EAGER_HPP

#include "dlc/tensor.hpp"

#include <cstddef>

namespace dlc {

/// A tensor, or a number that is converted to the other operand's element type and device.
class Value {
public:
  Value(const Tensor &tensor) : tensor(tensor) {}
  Value(double number) : tensor(Tensor::full({}, number, DType::F64)), isNumber(true) {}
  Value(int number) : Value(double(number)) {}

  Tensor tensor;
  bool isNumber = false;
};

// Returns x + y. Shapes are broadcast as in NumPy, here and in the other operators.
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
/// Returns the softmax along the last dimension.
Tensor softmax(const Tensor &x);

/// Returns the sum of all elements as a 0-d tensor.
Tensor sum(const Tensor &x);
Tensor mean(const Tensor &x);
Tensor max(const Tensor &x);
Tensor min(const Tensor &x);

Tensor matmul(const Tensor &x, const Tensor &y);

/// Returns the number of cached programs of eager operations, one for each operation and signature.
size_t eager_programs();

} // namespace dlc

#endif // DLC_EAGER_HPP

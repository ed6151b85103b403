// lesson.cpp - introduction to devices: creating and moving tensors, errors of mixed devices,
// sharing and copying.
#include <dlc/eager.hpp>

#include <iostream>

int main() try {
  std::cout << dlc::num_devices("cpu") << " CPU devices, " << dlc::num_devices("cuda")
            << " GPUs; try_gpu() is " << dlc::try_gpu().name() << "\n";
  // A second device: a GPU if there is one, else a virtual device with its own memory.
  dlc::Device there = dlc::is_available("cuda") ? "cuda:0" : "cpu:1";

  // Tensors are on the CPU unless a device is specified.
  dlc::Tensor x = dlc::Tensor::arange(3, dlc::DType::F32);
  dlc::Tensor y = dlc::Tensor::ones({2, 3}, dlc::DType::F32, there);
  std::cout << "x is " << x << "\ny is " << y << "\n";

  // Tensors are not moved implicitly: operands on two devices are an error, and the message has a
  // hint.
  try {
    y + x;
  } catch (const dlc::Error &error) {
    std::cout << "error: " << error.what() << "\n";
  }
  dlc::Tensor z = y + x.to(there);
  std::cout << "x + y is " << z << "\n";
  // Numbers and 0-d tensors can be used with tensors of any device.
  std::cout << "2 z - mean is " << 2 * z - dlc::mean(z).to("cpu") << "\n";

  // to() returns the same memory if the tensor is on the device already, copy() never does.
  std::cout << "to() there again: " << (z.to(there).raw() == z.raw() ? "the same" : "another")
            << " memory\ncopy(): " << (z.copy().raw() == z.raw() ? "the same" : "another")
            << " memory\n";
  // A tensor of the same device and type as another one.
  std::cout << "new_full: " << z.new_full({2}, 7) << "\n";
} catch (const dlc::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}

// lesson.cpp - first steps with devices: create, move, mix by mistake, share or copy.
#include <dlc/eager.hpp>

#include <iostream>

int main() try {
  std::cout << dlc::num_devices("cpu") << " CPU devices, " << dlc::num_devices("cuda")
            << " GPUs; try_gpu() is " << dlc::try_gpu().name() << "\n";
  // The second device of whatever there is: a GPU, or a virtual one with memory of its own.
  dlc::Device there = dlc::is_available("cuda") ? "cuda:0" : "cpu:1";

  // Tensors are on the CPU unless one says where.
  dlc::Tensor x = dlc::Tensor::arange(3, dlc::DType::F32);
  dlc::Tensor y = dlc::Tensor::ones({2, 3}, dlc::DType::F32, there);
  std::cout << "x is " << x << "\ny is " << y << "\n";

  // Nothing moves unseen: operands on two devices are a mistake, and the message says the mend.
  try {
    y + x;
  } catch (const dlc::Error &error) {
    std::cout << "error: " << error.what() << "\n";
  }
  dlc::Tensor z = y + x.to(there);
  std::cout << "x + y is " << z << "\n";
  // Numbers and 0-d tensors combine freely.
  std::cout << "2 z - mean is " << 2 * z - dlc::mean(z).to("cpu") << "\n";

  // to() shares where a tensor is there already; copy() never does.
  std::cout << "to() there again: " << (z.to(there).raw() == z.raw() ? "the same" : "another")
            << " memory\ncopy(): " << (z.copy().raw() == z.raw() ? "the same" : "another")
            << " memory\n";
  // Like another tensor, on its device and of its type.
  std::cout << "new_full: " << z.new_full({2}, 7) << "\n";
} catch (const dlc::Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}

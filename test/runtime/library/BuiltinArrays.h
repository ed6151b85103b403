//===- BuiltinArrays.h - runs built-in kernels on arrays ------------------------===//
#ifndef DLC_TEST_RUNTIME_LIBRARY_BUILTINARRAYS_H
#define DLC_TEST_RUNTIME_LIBRARY_BUILTINARRAYS_H

#include "test/runtime/Sample.h"

#include <cstring>
#include <new>

namespace dlc::test {

/// Allocator of memory as aligned as that of programs, which is aligned to the widest vector
/// register.
template <typename T> struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  AlignedAllocator() = default;
  template <typename U> AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), alignment)); }
  void deallocate(T *p, size_t) { ::operator delete(p, alignment); }
  bool operator==(const AlignedAllocator &) const { return true; }
};

struct Array {
  using Bytes = std::vector<uint8_t, AlignedAllocator<uint8_t>>;
  Bytes bytes;
  bool isOutput = false;

  template <typename T> static Array of(const std::vector<T> &values) {
    Array array{Bytes(values.size() * sizeof(T))};
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(array.bytes.data() + i * sizeof(T), &values[i], sizeof(T));
    return array;
  }
  template <typename T> static Array output(size_t count) {
    return {Bytes(count * sizeof(T), 0xcd), true};
  }
  template <typename T> std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty())
      std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

/// Runs one built-in command on the arrays, which become the program's inputs and outputs.
inline void runBuiltin(const json &desc, std::vector<Array> &arrays, int threads = 2) {
  Program program = emptyProgram();
  json &m = program.manifest;
  json buffers = json::array();
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (Array &array : arrays) {
    int64_t size = static_cast<int64_t>(array.bytes.size());
    json &list = m[array.isOutput ? "outputs" : "inputs"];
    m["buffers"].push_back(buffer(array.isOutput ? "output" : "input",
                                  static_cast<int>(list.size()), array.bytes.size()));
    list.push_back(tensor("t" + std::to_string(list.size()), "u8", {size}));
    if (array.isOutput)
      outputs.push_back(array.bytes.data());
    else
      inputs.push_back(array.bytes.data());
    buffers.push_back(buffers.size());
  }
  m["commands"] = {{{"op", "library"},
                    {"library", "builtin"},
                    {"name", "tested"},
                    {"desc", desc},
                    {"buffers", buffers}}};
  Session session(share(program), {threads});
  runOnce(session, inputs, outputs);
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_LIBRARY_BUILTINARRAYS_H

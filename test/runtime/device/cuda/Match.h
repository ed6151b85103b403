//===- Match.h - compares dlc's function declarations with NVIDIA's -----------===//
#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_MATCH_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_MATCH_H

#include <type_traits>

namespace dlc::test {

/// Compares two types of parameters. Handles and enumerations have different names in dlc, so only
/// the kind and the size must match.
template <typename A, typename B> constexpr bool alike() {
  return std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_class_v<A> == std::is_class_v<B> &&
         sizeof(A) == sizeof(B);
}
template <typename R, typename... A, typename S, typename... B>
constexpr bool match(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return (alike<A, B>() && ... && alike<R, S>());
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_MATCH_H

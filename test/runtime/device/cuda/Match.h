//===- Match.h - our declarations of functions against NVIDIA's own -----------===//
#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_MATCH_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_MATCH_H

#include <type_traits>

namespace dlc::test {

/// Handles and enumerations have other names here; what is passed must be alike.
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

//===- mma.cuh - asynchronous copies, ldmatrix and mma instructions ---===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

#ifdef DLC_EMULATED
template <int Bytes = 16, class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  dlc_emulated::copy_async<Bytes>(to, from, there ? Bytes : 0);
}

DK_INLINE void wait_for_all_copies() {
  dlc_emulated::commit_group();
  dlc_emulated::wait_groups(0);
}

DK_INLINE void copies_commit() { dlc_emulated::commit_group(); }
template <int Pending> DK_INLINE void copies_wait() { dlc_emulated::wait_groups(Pending); }
template <bool Transposed> DK_INLINE void load_matrices(unsigned *f, const void *line) {
  dlc_emulated::ldmatrix<4, Transposed>(f, line);
}

DK_INLINE int hide_from_optimizer(int x) { return x; }
DK_INLINE void mma_bf16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_bf16(c, a, b);
}

DK_INLINE void mma_f16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_f16(c, a, b);
}

DK_INLINE void mma_tf32(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k8_tf32(c, a, b);
}

template <bool SignedA, bool SignedB>
DK_INLINE void mma_bytes(int *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k32_bytes<SignedA, SignedB>(c, a, b);
}

#else
DK_INLINE unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Copies 16, 8 or 4 bytes to shared memory; zeros if there is nothing to read. GPUs before sm_80
// copy synchronously.
#if __CUDA_ARCH__ < 800
template <int Bytes = 16, class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  typedef vec<unsigned, Bytes / 4> words;
  *reinterpret_cast<words *>(to) = there ? *reinterpret_cast<const words *>(from) : words{};
}
DK_INLINE void wait_for_all_copies() {}
DK_INLINE void copies_commit() {}
template <int Pending> DK_INLINE void copies_wait() {}
#else
template <int Bytes = 16, class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(there ? Bytes : 0), "n"(Bytes)
                 : "memory");
}

DK_INLINE void wait_for_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
DK_INLINE void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `Pending` copy groups of the thread are in flight.
template <int Pending> DK_INLINE void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
#endif

// Loads four 8x8 matrices: a thread gets two adjacent elements of a line, or of a column if
// transposed.
template <bool Transposed> DK_INLINE void load_matrices(unsigned *f, const void *line) {
  if (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(shared_address(line))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(shared_address(line))
                 : "memory");
}

// Returns the same number, opaque to the optimizer.
DK_INLINE int hide_from_optimizer(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

#if __CUDA_ARCH__ < 800
// GPUs before sm_80 have no such mma instructions: operands of other lanes are read by shuffles.
// `dot` multiplies two registers of operands.
template <class Dot>
DK_INLINE void mma_by_shuffles(float *c, const unsigned *a, const unsigned *b, Dot dot) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int from = 0; from < 4; ++from) {
    unsigned row[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      row[i] = __shfl_sync(0xffffffffu, a[i], (lane & ~3) | from);
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const unsigned column = __shfl_sync(0xffffffffu, b[k], (lane % 4 * 2 + j) * 4 + from);
        c[j] += dot(row[k * 2], column);
        c[j + 2] += dot(row[k * 2 + 1], column);
      }
  }
}

DK_INLINE void mma_bf16(float *c, const unsigned *a, const unsigned *b) {
  mma_by_shuffles(c, a, b, [](unsigned x, unsigned y) {
    return float_of(x << 16) * float_of(y << 16) +
           float_of(x & 0xffff0000u) * float_of(y & 0xffff0000u);
  });
}

DK_INLINE void mma_f16(float *c, const unsigned *a, const unsigned *b) {
  auto low = [](unsigned x) { return widen(f16{(unsigned short)x}); };
  mma_by_shuffles(c, a, b, [=](unsigned x, unsigned y) {
    return low(x) * low(y) + low(x >> 16) * low(y >> 16);
  });
}

DK_INLINE void mma_tf32(float *c, const unsigned *a, const unsigned *b) {
  mma_by_shuffles(c, a, b, [](unsigned x, unsigned y) { return float_of(x) * float_of(y); });
}
#else
#define DK_MMA(name, shape)                                                                        \
  DK_INLINE void mma_##name(float *c, const unsigned *a, const unsigned *b) {                      \
    asm("mma.sync.aligned." shape                                                                  \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                         \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                       \
  }
DK_MMA(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
DK_MMA(f16, "m16n8k16.row.col.f32.f16.f16.f32")
DK_MMA(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef DK_MMA
#endif

#define DK_MMA(types)                                                                              \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." types                                               \
      ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                       \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                             \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
template <bool SignedA, bool SignedB>
DK_INLINE void mma_bytes(int *c, const unsigned *a, const unsigned *b) {
  if (SignedA && SignedB)
    DK_MMA("s8.s8");
  else if (SignedA)
    DK_MMA("s8.u8");
  else if (SignedB)
    DK_MMA("u8.s8");
  else
    DK_MMA("u8.u8");
}
#undef DK_MMA
#endif

#if defined(DLC_EMULATED) || __CUDA_ARCH__ < 800
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits = bits_of(x);
  return x != x || (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}
#else
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
#endif

} // namespace dk

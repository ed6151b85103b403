//===- wgmma.cuh - warpgroup products (wgmma) of four warps ----------------===//
//
// Both operands are tiles in shared memory; the sums are in registers. sm_90a only. The emulated
// GPU uses mma instead.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mma.cuh"

namespace dk {

#ifdef DLC_EMULATED
DK_INLINE void shared_writes_done() {}
template <int Pending> DK_INLINE void products_wait() {}
template <int M, int N> DK_INLINE void products_settle(float (&)[M][N][4]) {}
#else
// Writes of threads to shared memory must be finished before products that read them begin; after a
// wait, at most `Pending` groups of products are in flight.
DK_INLINE void shared_writes_done() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DK_INLINE void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DK_INLINE void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending> DK_INLINE void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Waits for all products.
template <int M, int N> DK_INLINE void products_settle(float (&total)[M][N][4]) {
  products_wait<0>();
#pragma unroll
  for (int i = 0; i < M * N * 4; ++i)
    asm volatile("" : "+f"(total[i / (N * 4)][i / 4 % N][i % 4])::"memory");
}

// Descriptor of a tile in lines of 128 bytes (tiles.cuh). Fields: address, bytes between groups of
// 64 rows, bytes between groups of eight lines, all in units of 16; and the swizzle mode.
template <bool DepthFirst, int Depth>
DK_INLINE unsigned long long make_tile_descriptor(const void *tile) {
  return (unsigned long long)(shared_address(tile) >> 4 & 0x3fffu) |
         (unsigned long long)(DepthFirst ? 1 : Depth * 128 / 16) << 16 | 64ull << 32 | 1ull << 62;
}
#endif

/// Adds to `d` the product of a tile of 64 rows and a tile of `Columns` columns, 16 elements deep.
template <class T, int Columns, bool TransposedA, bool TransposedB> struct warpgroup_product;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Register operands of an asm statement: 32, 64, 96 and 128 sums.
#define DK_REGISTERS_32                                                                            \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"                           \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define DK_REGISTERS_64                                                                            \
  DK_REGISTERS_32                                                                                  \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"               \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define DK_REGISTERS_96                                                                            \
  DK_REGISTERS_64                                                                                  \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"               \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define DK_REGISTERS_128                                                                           \
  DK_REGISTERS_96                                                                                  \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"   \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
  "%127"
#define DK_SUMS_8(i)                                                                               \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]),      \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define DK_SUMS_32(i) DK_SUMS_8(i), DK_SUMS_8(i + 8), DK_SUMS_8(i + 16), DK_SUMS_8(i + 24)
#define DK_SUMS_64(i) DK_SUMS_32(i), DK_SUMS_32(i + 32)
#define DK_SUMS_96(i) DK_SUMS_64(i), DK_SUMS_32(i + 64)
#define DK_SUMS_128(i) DK_SUMS_64(i), DK_SUMS_64(i + 64)
// a_and_b, transposed: numbers of the asm operands after the `count` sums.
#define DK_PRODUCT(columns, count, type, a_and_b, transposed)                                      \
  template <bool TransposedA, bool TransposedB>                                                    \
  struct warpgroup_product<type, columns, TransposedA, TransposedB> {                              \
    DK_INLINE void add(float *d, unsigned long long a, unsigned long long b) {                     \
      asm volatile("{.reg .pred p;\nsetp.eq.u32 p, 0, 0;\n"                                        \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." #type "." #type         \
                   " {" DK_REGISTERS_##count "}, " a_and_b ", p, 1, 1, " transposed ";}"           \
                   : DK_SUMS_##count(0)                                                            \
                   : "l"(a), "l"(b), "n"(TransposedA), "n"(TransposedB));                          \
    }                                                                                              \
  };
DK_PRODUCT(64, 32, bf16, "%32, %33", "%34, %35")
DK_PRODUCT(64, 32, f16, "%32, %33", "%34, %35")
DK_PRODUCT(128, 64, bf16, "%64, %65", "%66, %67")
DK_PRODUCT(128, 64, f16, "%64, %65", "%66, %67")
DK_PRODUCT(192, 96, bf16, "%96, %97", "%98, %99")
DK_PRODUCT(192, 96, f16, "%96, %97", "%98, %99")
DK_PRODUCT(256, 128, bf16, "%128, %129", "%130, %131")
DK_PRODUCT(256, 128, f16, "%128, %129", "%130, %131")
#undef DK_PRODUCT
#undef DK_SUMS_128
#undef DK_SUMS_96
#undef DK_SUMS_64
#undef DK_SUMS_32
#undef DK_SUMS_8
#undef DK_REGISTERS_128
#undef DK_REGISTERS_96
#undef DK_REGISTERS_64
#undef DK_REGISTERS_32
#endif

} // namespace dk

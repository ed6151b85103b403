//===- PreludeTiles.cpp - asynchronous copies and products of warps --------===//
#include "codegen/cuda/Prelude.h"

namespace dlc::cuda {

llvm::StringRef tilePreludeText() {
  return R"cuda(namespace dk {

#ifdef DLC_EMULATED
template <class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  dlc_emulated::copy_async<16>(to, from, there ? 16 : 0);
}
DK_INLINE void copies_done() {
  dlc_emulated::commit_group();
  dlc_emulated::wait_groups(0);
}
template <bool Turned> DK_INLINE void load_matrices(unsigned *f, const void *line) {
  dlc_emulated::ldmatrix<4, Turned>(f, line);
}
DK_INLINE void mma_bf16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_bf16(c, a, b);
}
DK_INLINE void mma_f16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_f16(c, a, b);
}
DK_INLINE void mma_tf32(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k8_tf32(c, a, b);
}
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits = bits_of(x);
  return x != x || (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}
#else
// 16 bytes to shared memory; zeros where there is nothing to read.
DK_INLINE unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
template <class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
}
DK_INLINE void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }
// Four 8x8 matrices: a thread gets two neighbours of a line, or of a column when turned.
template <bool Turned> DK_INLINE void load_matrices(unsigned *f, const void *line) {
  if (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(shared_address(line)) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(shared_address(line)) : "memory");
}
#define DK_MMA(name, shape) \
  DK_INLINE void mma_##name(float *c, const unsigned *a, const unsigned *b) { \
    asm("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
  }
DK_MMA(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
DK_MMA(f16, "m16n8k16.row.col.f32.f16.f16.f32")
DK_MMA(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef DK_MMA
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
#endif

// Operands of an mma from a tile in shared memory, whose lines of `Pitch` elements run along the
// depth, or along the rows (columns).
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void rows_of_16(unsigned *f, const T *tile, int row, int k, int lane) {
  int r = row + lane / 8 % 2 * 8, d = k + lane / 16 * 8, line = lane % 8;
  if (DepthFirst) load_matrices<false>(f, tile + (r + line) * Pitch + d);
  else load_matrices<true>(f, tile + (d + line) * Pitch + r);
}
// Of two neighbouring products.
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void columns_of_16(unsigned *f, const T *tile, int column, int k, int lane) {
  int c = column + lane / 16 * 8, d = k + lane / 8 % 2 * 8, line = lane % 8;
  if (DepthFirst) load_matrices<false>(f, tile + (c + line) * Pitch + d);
  else load_matrices<true>(f, tile + (d + line) * Pitch + c);
}
template <bool DepthFirst, int Pitch>
DK_INLINE unsigned element_of_32(const float *tile, int at, int k) {
  return round_tf32(tile[DepthFirst ? at * Pitch + k : k * Pitch + at]);
}
template <bool DepthFirst, int Pitch>
DK_INLINE void rows_of_32(unsigned *f, const float *tile, int row, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    f[i] = element_of_32<DepthFirst, Pitch>(tile, row + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
}
template <bool DepthFirst, int Pitch>
DK_INLINE void columns_of_32(unsigned *f, const float *tile, int column, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
    f[i] = element_of_32<DepthFirst, Pitch>(tile, column + lane / 4, k + lane % 4 + i * 4);
}

} // namespace dk
)cuda";
}

} // namespace dlc::cuda

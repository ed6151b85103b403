//===- PreludeTiles.cpp - asynchronous copies and products of warps -------===//
#include "codegen/cuda/Prelude.h"

namespace dlc::cuda {

namespace {

/// Returns the text of a function that multiplies a tile of 64 rows and `columns` columns by wgmma
/// instructions of four warps. The sums are in `d`.
std::string buildWarpgroupMatmul(int columns, const char *type) {
  std::string registers, sums, name = std::to_string(columns);
  int count = columns / 2;
  for (int i = 0; i < count; ++i) {
    registers += (i ? ", %" : "%") + std::to_string(i);
    if (i % 8 == 0)
      sums += (i ? ", DK_SUMS(" : "DK_SUMS(") + std::to_string(i) + ")";
  }
  auto operand = [&](int i) { return ", %" + std::to_string(count + i); };
  return "template <bool TurnA, bool TurnB> DK_INLINE void product_" + name + "_" + type +
         "(float *d, unsigned long long a, unsigned long long b) {\n"
         "  asm volatile(\"{.reg .pred p;\\nsetp.eq.u32 p, 0, 0;\\n"
         "wgmma.mma_async.sync.aligned.m64n" +
         name + "k16.f32." + type + "." + type + " {" + registers + "}" + operand(0) + operand(1) +
         ", p, 1, 1" + operand(2) + operand(3) + ";}\"\n    : " + sums +
         "\n    : \"l\"(a), \"l\"(b), \"n\"(TurnA), \"n\"(TurnB));\n}\n";
}

std::string buildTilePrelude() {
  std::string products = R"cuda(
namespace dk {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define DK_SUMS(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
)cuda";
  for (int columns : {64, 128, 192, 256})
    for (const char *type : {"bf16", "f16"})
      products += buildWarpgroupMatmul(columns, type);
  products += "#undef DK_SUMS\n#endif\n} // namespace dk\n";
  std::string rest = R"cuda(namespace dk {

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
DK_INLINE void shared_writes_done() {}
DK_INLINE int hide_from_optimizer(int x) { return x; }
template <int Pending> DK_INLINE void products_wait() {}
template <int M, int N> DK_INLINE void products_settle(float (&)[M][N][4]) {}
DK_INLINE void mma_bf16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_bf16(c, a, b);
}
DK_INLINE void mma_f16(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k16_f16(c, a, b);
}
DK_INLINE void mma_tf32(float *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k8_tf32(c, a, b);
}
template <bool SignedA, bool SignedB> DK_INLINE void mma_bytes(int *c, const unsigned *a, const unsigned *b) {
  dlc_emulated::mma_m16n8k32_bytes<SignedA, SignedB>(c, a, b);
}
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits = bits_of(x);
  return x != x || (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
}
#else
// Copies 16, 8 or 4 bytes to shared memory; zeros if there is nothing to read.
DK_INLINE unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
template <int Bytes = 16, class T> DK_INLINE void copy_async(T *to, const T *from, bool there) {
  if (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;"
                 :: "r"(shared_address(to)), "l"(from), "r"(there ? Bytes : 0), "n"(Bytes) : "memory");
}
DK_INLINE void wait_for_all_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
DK_INLINE void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `Pending` copy groups of the thread are in flight.
template <int Pending> DK_INLINE void copies_wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(Pending) : "memory");
}
// Loads four 8x8 matrices: a thread gets two adjacent elements of a line, or of a column if transposed.
template <bool Transposed> DK_INLINE void load_matrices(unsigned *f, const void *line) {
  if (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(shared_address(line)) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(shared_address(line)) : "memory");
}
// Returns the same number, opaque to the optimizer.
DK_INLINE int hide_from_optimizer(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
// Warpgroup products (wgmma) of four warps, with operands in shared memory. Writes of threads to shared memory
// must be finished first; after a wait, at most `Pending` groups of products are in flight.
DK_INLINE void shared_writes_done() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DK_INLINE void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DK_INLINE void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending> DK_INLINE void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(Pending) : "memory");
}
// Waits for all products.
template <int M, int N> DK_INLINE void products_settle(float (&total)[M][N][4]) {
  products_wait<0>();
#pragma unroll
  for (int i = 0; i < M * N * 4; ++i) asm volatile("" : "+f"(total[i / (N * 4)][i / 4 % N][i % 4]) :: "memory");
}
// Descriptor of a tile in lines of 128 bytes (below). Fields: address, bytes between groups of 64 rows, bytes
// between groups of eight lines, all in units of 16; and the swizzle mode.
template <bool DepthFirst, int Depth> DK_INLINE unsigned long long make_tile_descriptor(const void *tile) {
  return (unsigned long long)(shared_address(tile) >> 4 & 0x3fffu) |
         (unsigned long long)(DepthFirst ? 1 : Depth * 128 / 16) << 16 | 64ull << 32 | 1ull << 62;
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
#define DK_MMA(types) \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
template <bool SignedA, bool SignedB> DK_INLINE void mma_bytes(int *c, const unsigned *a, const unsigned *b) {
  if (SignedA && SignedB) DK_MMA("s8.s8");
  else if (SignedA) DK_MMA("s8.u8");
  else if (SignedB) DK_MMA("u8.s8");
  else DK_MMA("u8.u8");
}
#undef DK_MMA
DK_INLINE unsigned round_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
#endif

// Loads operands of an mma from a tile in shared memory, whose lines of `Pitch` elements are along the
// contracted dimension, or along the rows (columns).
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void load_rows_16bit(unsigned *f, const T *tile, int row, int k, int lane) {
  int r = row + lane / 8 % 2 * 8, d = k + lane / 16 * 8, line = lane % 8;
  if (DepthFirst) load_matrices<false>(f, tile + (r + line) * Pitch + d);
  else load_matrices<true>(f, tile + (d + line) * Pitch + r);
}
// Loads the fragments of two adjacent mma operands.
template <bool DepthFirst, int Pitch, class T>
DK_INLINE void load_columns_16bit(unsigned *f, const T *tile, int column, int k, int lane) {
  int c = column + lane / 16 * 8, d = k + lane / 8 % 2 * 8, line = lane % 8;
  if (DepthFirst) load_matrices<false>(f, tile + (c + line) * Pitch + d);
  else load_matrices<true>(f, tile + (d + line) * Pitch + c);
}
template <bool DepthFirst, int Pitch>
DK_INLINE unsigned load_tf32(const float *tile, int at, int k) {
  return round_tf32(tile[DepthFirst ? at * Pitch + k : k * Pitch + at]);
}
template <bool DepthFirst, int Pitch>
DK_INLINE void load_rows_tf32(unsigned *f, const float *tile, int row, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    f[i] = load_tf32<DepthFirst, Pitch>(tile, row + lane / 4 + i % 2 * 8, k + lane % 4 + i / 2 * 4);
}
template <bool DepthFirst, int Pitch>
DK_INLINE void load_columns_tf32(unsigned *f, const float *tile, int column, int k, int lane) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
    f[i] = load_tf32<DepthFirst, Pitch>(tile, column + lane / 4, k + lane % 4 + i * 4);
}

// Tiles of pipelines are stored in lines of `Line` elements, in which vectors of 16 bytes (`Wide` elements)
// are swizzled by the line's index, so that those of eight adjacent lines are in different banks. Lines
// are along the contracted dimension; or along the rows (columns), and then the lines of the whole contracted dimension are
// adjacent, followed by those of the next `Line` rows. `Scalars`: vectors of eight elements of four adjacent
// lines are in different banks.
template <int Line, int Wide, bool Scalars = false> DK_INLINE int swizzled(int line, int vector) {
  constexpr int count = Line / Wide, together = 8 / count;
  return line * Line + (vector ^ (Scalars ? line % 4 * 2 : line / together % count)) * Wide;
}
template <bool DepthFirst, int Line, int Depth, int Wide> DK_INLINE int swizzled_lane_offset(int at, int k, int lane) {
  const int own = lane % 8;
  return DepthFirst ? swizzled<Line, Wide>(at + own, k / Wide)
                    : at / Line * (Depth * Line) + swizzled<Line, Wide>(k + own, at % Line / Wide);
}
// Elements of 16 bits, or of 8 bits if lines are along the contracted dimension.
template <bool DepthFirst, int Line, int Depth, class T>
DK_INLINE void row_fragment(unsigned *f, const T *tile, int row, int k, int lane) {
  constexpr int Wide = 16 / sizeof(T);
  load_matrices<!DepthFirst>(f, tile + swizzled_lane_offset<DepthFirst, Line, Depth, Wide>(row + lane / 8 % 2 * 8, k + lane / 16 * Wide, lane));
}
// Loads the fragments of two adjacent mma operands.
template <bool DepthFirst, int Line, int Depth, class T>
DK_INLINE void column_fragments(unsigned *f, const T *tile, int column, int k, int lane) {
  constexpr int Wide = 16 / sizeof(T);
  load_matrices<!DepthFirst>(f, tile + swizzled_lane_offset<DepthFirst, Line, Depth, Wide>(column + lane / 16 * 8, k + lane / 8 % 2 * Wide, lane));
}
template <bool DepthFirst, int Line, int Depth, bool Rows>
DK_INLINE void load_fragment_tf32(unsigned *f, const float *tile, int at, int k, int lane) {
  if (DepthFirst) {
    const int far = lane / 16, near = lane / 8 % 2;
    load_matrices<false>(f, tile + swizzled<Line, 4>(at + lane % 8 + (Rows ? near : far) * 8, k / 4 + (Rows ? far : near)));
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int far = i / 2, near = i % 2, d = k + lane % 4 + (Rows ? far : near) * 4;
    const int l = at + lane / 4 + (Rows ? near : far) * 8;
    f[i] = round_tf32(DepthFirst ? float_of(f[i])
                                 : tile[l / Line * (Depth * Line) + swizzled<Line, 4, true>(d, l % Line / 4) + l % 4]);
  }
}
template <bool DepthFirst, int Line, int Depth>
DK_INLINE void row_fragment(unsigned *f, const float *tile, int row, int k, int lane) {
  load_fragment_tf32<DepthFirst, Line, Depth, true>(f, tile, row, k, lane);
}
template <bool DepthFirst, int Line, int Depth>
DK_INLINE void column_fragments(unsigned *f, const float *tile, int column, int k, int lane) {
  load_fragment_tf32<DepthFirst, Line, Depth, false>(f, tile, column, k, lane);
}
// Stores the sums of a warp, whose fragments of 16 rows are `Step` rows apart, in row-major order.
template <int Rows, int Columns, int Step, int Pitch, class T>
DK_INLINE void put_sums(T *to, const T (&total)[Rows][Columns][4], int row, int column, int lane) {
  to += (row + lane / 4) * Pitch + column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int j = 0; j < Columns; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        vec<T, 2> both = {{total[i][j][half * 2], total[i][j][half * 2 + 1]}};
        store<2>(to + (i * Step + half * 8) * Pitch + j * 8, both);
      }
}
// Sums of an operand's bytes, for zero points: over a warp's rows and columns, of which each thread has
// those of its fragments.
template <bool Signed> DK_INLINE int add_elements(int sum, unsigned word) {
  return Signed ? __dp4a((int)word, 0x01010101, sum) : (int)__dp4a(word, 0x01010101u, (unsigned)sum);
}
template <bool Signed, int N> DK_INLINE void add_row_sums(int (&sums)[2 * N], const unsigned (&a)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) {
    int &sum = sums[i / 4 * 2 + i % 2];
    sum = add_elements<Signed>(sum, a[i / 4][i % 4]);
  }
}
template <bool Signed, int N> DK_INLINE void add_column_sums(int (&sums)[2 * N], const unsigned (&b)[N][4]) {
#pragma unroll
  for (int i = 0; i < N * 4; ++i) {
    int &sum = sums[i / 4 * 2 + i / 2 % 2];
    sum = add_elements<Signed>(sum, b[i / 4][i % 4]);
  }
}
template <int N> DK_INLINE void store_operand_sums(int *to, const int (&sums)[N], int lane) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    int sum = sums[i];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (lane % 4 == 0) to[i * 8 + lane / 4] = sum;
  }
}
template <class T, int N> DK_INLINE vec<T, N> filled(int x) {
  vec<T, N> all;
#pragma unroll
  for (int i = 0; i < N; ++i) all.e[i] = (T)x;
  return all;
}

} // namespace dk
)cuda";
  return rest + products;
}

} // namespace

llvm::StringRef tilePreludeText() {
  static const std::string text = buildTilePrelude();
  return text;
}

} // namespace dlc::cuda

//===- attention.cuh - attention whose scores stay in registers
//------------===//
//
// A block computes `rows` rows of queries (or keys) and iterates over the keys (or queries) in
// tiles of `columns`. A warp has 16 rows. Parameters P of all templates:
//   index, element         types
//   products               instance of warp_products
//   threads                number of threads of a block
//   queries, keys          number of rows of a batch
//   depth_size, width_size number of columns of queries and keys, and of values
//   depth, width           the same, rounded up to multiples of 16
//   rows, columns          extents of a tile
//   causal, scale()        attributes of the operation
// seen(query, key) is false for masked scores. bias(query, key) is added to scores.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "functions.cuh"
#include "warp_products.cuh"

namespace dk {

/// Rows of an operand or result of the current batch, `Stride` elements apart. `Vectors`: they
/// consist of aligned vectors of 16 bytes. `Pairs`: of aligned pairs of elements.
template <class T, long long Stride, bool Vectors, bool Pairs> struct matrix_rows {
  static constexpr long long stride = Stride;
  static constexpr bool vectors = Vectors, pairs = Pairs;
  T *first;
};

/// Rows that a block computes, and the elements of a thread in the fragment layout.
template <class P> struct attention_block {
  typedef typename P::index index;
  typedef typename P::element element;
  static constexpr int pad = 16 / (int)sizeof(element);
  static constexpr int depth_pitch = P::depth + pad, width_pitch = P::width + pad;
  int lane, warp;
  index first, batch;

  DK_INLINE attention_block of(index count) {
    const index blocks = (count + P::rows - 1) / P::rows;
    return {(int)(threadIdx.x % 32), (int)(threadIdx.x / 32),
            (index)(blockIdx.x % blocks) * (index)P::rows, (index)(blockIdx.x / blocks)};
  }
  /// Row of element i of a thread's sums.
  __device__ __forceinline__ index row(int i) const {
    return first + warp * 16 + lane / 4 + i % 4 / 2 * 8;
  }
  /// Column of element i of a thread's sums.
  __device__ __forceinline__ int column(int i) const { return i / 4 * 8 + lane % 4 * 2 + i % 2; }
  /// End of the keys that the block's queries need.
  __device__ __forceinline__ index key_limit() const {
    return P::causal && first + P::rows < P::keys ? first + P::rows : P::keys;
  }

  /// Begins a copy of `Lines` rows from row `start` on. `count`: number of all rows.
  template <int Lines, int Depth, class From>
  DK_INLINE void load(element *tile, const From &from, index start, index count, int size) {
    load_lines<Lines, Depth, Depth + pad, P::threads, From::vectors>(
        tile, from.first + start * (index)From::stride, (index)From::stride, (index)(count - start),
        size);
  }
  /// Stores rows of sums, multiplied by the row's factor.
  template <int Width, class To>
  __device__ __forceinline__ void store(const To &to, index count, int size, const float *sums,
                                        const float *factors) const {
    store_rows<Width, To::pairs>(to.first, (index)To::stride, first + warp * 16, count, size, sums,
                                 factors, lane);
  }
};

/// Attention. Further parameters: has_y, has_lse (whether the result and the log-sum-exp of each
/// row are stored).
template <class P> struct attention_forward {
  typedef typename P::index index;
  typedef typename P::element element;
  typedef attention_block<P> block;

  template <class Q, class K, class V, class Y, class Seen, class Bias>
  DK_INLINE void run(Q q, K k, V v, Y y, float *lse, Seen seen, Bias bias, unsigned char *memory) {
    const block b = block::of(P::queries);
    element *const q_tile = (element *)memory, *const k_tile =
                                                   q_tile + P::rows * block::depth_pitch;
    element *const v_tile = k_tile + P::columns * block::depth_pitch;
    float m[2] = {-infinity(), -infinity()}, l[2] = {0, 0}, o[P::width / 2];
#pragma unroll
    for (int i = 0; i < P::width / 2; ++i)
      o[i] = 0;
    block::template load<P::rows, P::depth>(q_tile, q, b.first, P::queries, P::depth_size);
    block::template load<P::columns, P::depth>(k_tile, k, 0, P::keys, P::depth_size);
    const index limit = b.key_limit();
    for (index start = 0; start < limit; start += P::columns) {
      wait_for_all_copies();
      __syncthreads();
      block::template load<P::columns, P::width>(v_tile, v, start, P::keys, P::width_size);
      float s[P::columns / 2];
#pragma unroll
      for (int i = 0; i < P::columns / 2; ++i)
        s[i] = 0;
      P::products::template times<P::columns, P::depth, block::depth_pitch>(
          s, q_tile + b.warp * 16 * block::depth_pitch, k_tile, b.lane);
      wait_for_all_copies();
      __syncthreads();
      if (start + P::columns < limit)
        block::template load<P::columns, P::depth>(k_tile, k, start + P::columns, P::keys,
                                                   P::depth_size);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        weigh(b, half, start, s, m[half], l[half], o, seen, bias);
      P::products::template add<P::columns, P::width, block::width_pitch>(o, s, v_tile, b.lane);
    }
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      l[half] = warp_reduce<sum, 4>(l[half]);
      inverse[half] = l[half] == 0 ? 0.0f : 1.0f / l[half];
      const index query = b.row(half * 2);
      if (P::has_lse && b.lane % 4 == 0 && query < P::queries)
        lse[b.batch * P::queries + query] = m[half] + log(l[half]);
    }
    if (P::has_y)
      b.template store<P::width>(y, P::queries, P::width_size, o, inverse);
  }

private:
  DK_INLINE float infinity() { return float_of(0x7f800000u); }

  /// Replaces the scores of a thread's row by weights, relative to the row's maximum m. If that
  /// increases, the sum of weights l and the row of the result o are scaled.
  template <class Seen, class Bias>
  DK_INLINE void weigh(const block &b, int half, index start, float *s, float &m, float &l,
                       float *o, Seen seen, Bias bias) {
    const index query = b.row(half * 2);
    float best = m;
#pragma unroll
    for (int i = 0; i < P::columns / 8; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float &score = s[i * 4 + half * 2 + j];
        const index key = start + b.column(i * 4 + j);
        score = seen(query, key) ? score * P::scale() + bias(query, key) : -infinity();
        best = largest::of(best, score);
      }
    best = warp_reduce<largest, 4>(best);
    const float base = best == -infinity() ? 0.0f : best, factor = exp(m - base);
    m = best;
    l *= factor;
#pragma unroll
    for (int i = 0; i < P::columns / 8; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        float &score = s[i * 4 + half * 2 + j];
        score = exp(score - base);
        l += score;
      }
#pragma unroll
    for (int i = 0; i < P::width / 8; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        o[i * 4 + half * 2 + j] *= factor;
  }
};

/// Sum of dy * y of each row, which the gradient of the row's scores subtracts.
template <class P> struct attention_shares {
  typedef typename P::index index;
  template <class Y, class DY> DK_INLINE void run(Y y, DY dy, float *shares) {
    const attention_block<P> b = attention_block<P>::of(P::queries);
    for (index row = b.first + b.warp; row < b.first + P::rows && row < P::queries;
         row += P::threads / 32) {
      float total = 0;
      for (int e = b.lane; e < P::width_size; e += 32)
        total +=
            load(y.first[row * (index)Y::stride + e]) * load(dy.first[row * (index)DY::stride + e]);
      total = warp_reduce<sum, 32>(total);
      if (b.lane == 0)
        shares[b.batch * P::queries + row] = total;
    }
  }
};

/// Returns the log-sum-exp of a row, or the lowest finite float if it is minus infinity because all
/// scores of the row are masked.
DK_INLINE float finite_lse(float lse) { return largest::of(lse, -3.402823466e38f); }

/// Gradient of queries, which iterates over the keys.
template <class P> struct attention_query_grad {
  typedef typename P::index index;
  typedef typename P::element element;
  typedef attention_block<P> block;

  template <class Q, class K, class V, class DY, class DQ, class Seen, class Bias>
  DK_INLINE void run(Q q, K k, V v, DY dy, const float *lse, const float *all_shares, DQ to_q,
                     Seen seen, Bias bias, unsigned char *memory) {
    const block b = block::of(P::queries);
    element *const q_tile = (element *)memory;
    element *const dy_tile = q_tile + P::rows * block::depth_pitch;
    element *const k_tile = dy_tile + P::rows * block::width_pitch;
    element *const v_tile = k_tile + P::columns * block::depth_pitch;
    float o[P::depth / 2], sums[2], shares[2], factors[2] = {P::scale(), P::scale()};
#pragma unroll
    for (int i = 0; i < P::depth / 2; ++i)
      o[i] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const index query = b.row(half * 2), at = b.batch * P::queries + query;
      sums[half] = query < P::queries ? finite_lse(lse[at]) : 0.0f;
      shares[half] = query < P::queries ? all_shares[at] : 0.0f;
    }
    block::template load<P::rows, P::depth>(q_tile, q, b.first, P::queries, P::depth_size);
    block::template load<P::rows, P::width>(dy_tile, dy, b.first, P::queries, P::width_size);
    const index limit = b.key_limit();
    for (index start = 0; start < limit; start += P::columns) {
      __syncthreads();
      block::template load<P::columns, P::depth>(k_tile, k, start, P::keys, P::depth_size);
      block::template load<P::columns, P::width>(v_tile, v, start, P::keys, P::width_size);
      wait_for_all_copies();
      __syncthreads();
      float s[P::columns / 2], d[P::columns / 2];
#pragma unroll
      for (int i = 0; i < P::columns / 2; ++i)
        s[i] = d[i] = 0;
      P::products::template times<P::columns, P::depth, block::depth_pitch>(
          s, q_tile + b.warp * 16 * block::depth_pitch, k_tile, b.lane);
      P::products::template times<P::columns, P::width, block::width_pitch>(
          d, dy_tile + b.warp * 16 * block::width_pitch, v_tile, b.lane);
#pragma unroll
      for (int i = 0; i < P::columns / 2; ++i) {
        const int half = i % 4 / 2;
        const index query = b.row(i), key = start + b.column(i);
        const float p =
            seen(query, key) ? exp(s[i] * P::scale() + bias(query, key) - sums[half]) : 0.0f;
        d[i] = p * (d[i] - shares[half]);
      }
      P::products::template add<P::columns, P::depth, block::depth_pitch>(o, d, k_tile, b.lane);
    }
    b.template store<P::depth>(to_q, P::queries, P::depth_size, o, factors);
  }
};

/// Gradients of keys and values, which iterate over the queries. Further parameters: has_k, has_v
/// (which of the two are computed).
template <class P> struct attention_key_grad {
  typedef typename P::index index;
  typedef typename P::element element;
  typedef attention_block<P> block;

  template <class Q, class K, class V, class DY, class DK, class DV, class Seen, class Bias>
  DK_INLINE void run(Q q, K k, V v, DY dy, const float *lse, const float *all_shares, DK to_k,
                     DV to_v, Seen seen, Bias bias, unsigned char *memory) {
    const block b = block::of(P::keys);
    element *const k_tile = (element *)memory;
    element *const v_tile = k_tile + P::rows * block::depth_pitch;
    element *const q_tile = v_tile + P::rows * block::width_pitch;
    element *const dy_tile = q_tile + P::columns * block::depth_pitch;
    float *const sums = (float *)(dy_tile + P::columns * block::width_pitch);
    float *const shares = sums + P::columns;
    float o_k[P::has_k ? P::depth / 2 : 1], o_v[P::has_v ? P::width / 2 : 1];
#pragma unroll
    for (int i = 0; P::has_k && i < P::depth / 2; ++i)
      o_k[i] = 0;
#pragma unroll
    for (int i = 0; P::has_v && i < P::width / 2; ++i)
      o_v[i] = 0;
    block::template load<P::rows, P::depth>(k_tile, k, b.first, P::keys, P::depth_size);
    if (P::has_k)
      block::template load<P::rows, P::width>(v_tile, v, b.first, P::keys, P::width_size);
    // With a causal mask, earlier queries are masked for all keys of the block.
    for (index start = P::causal ? b.first / P::columns * P::columns : 0; start < P::queries;
         start += P::columns) {
      __syncthreads();
      block::template load<P::columns, P::depth>(q_tile, q, start, P::queries, P::depth_size);
      block::template load<P::columns, P::width>(dy_tile, dy, start, P::queries, P::width_size);
      for (int i = threadIdx.x; i < P::columns; i += P::threads) {
        const index query = start + i, at = b.batch * P::queries + query;
        sums[i] = query < P::queries ? finite_lse(lse[at]) : 0.0f;
        shares[i] = query < P::queries ? all_shares[at] : 0.0f;
      }
      wait_for_all_copies();
      __syncthreads();
      float s[P::columns / 2];
#pragma unroll
      for (int i = 0; i < P::columns / 2; ++i)
        s[i] = 0;
      P::products::template times<P::columns, P::depth, block::depth_pitch>(
          s, k_tile + b.warp * 16 * block::depth_pitch, q_tile, b.lane);
#pragma unroll
      for (int i = 0; i < P::columns / 2; ++i) {
        const index query = start + b.column(i), key = b.row(i);
        s[i] =
            seen(query, key) ? exp(s[i] * P::scale() + bias(query, key) - sums[b.column(i)]) : 0.0f;
      }
      if (P::has_v)
        P::products::template add<P::columns, P::width, block::width_pitch>(o_v, s, dy_tile,
                                                                            b.lane);
      if (P::has_k)
        add_key_grad(b, o_k, s, v_tile, dy_tile, q_tile, shares);
    }
    const float factors[2] = {P::scale(), P::scale()}, one[2] = {1, 1};
    if (P::has_k)
      b.template store<P::depth>(to_k, P::keys, P::depth_size, o_k, factors);
    if (P::has_v)
      b.template store<P::width>(to_v, P::keys, P::width_size, o_v, one);
  }

private:
  /// Adds the product of the scores' gradient and a tile of queries. `s`: weights.
  DK_INLINE void add_key_grad(const block &b, float *o_k, const float *s, const element *v_tile,
                              const element *dy_tile, const element *q_tile, const float *shares) {
    float d[P::columns / 2];
#pragma unroll
    for (int i = 0; i < P::columns / 2; ++i)
      d[i] = 0;
    P::products::template times<P::columns, P::width, block::width_pitch>(
        d, v_tile + b.warp * 16 * block::width_pitch, dy_tile, b.lane);
#pragma unroll
    for (int i = 0; i < P::columns / 2; ++i)
      d[i] = s[i] * (d[i] - shares[b.column(i)]);
    P::products::template add<P::columns, P::depth, block::depth_pitch>(o_k, d, q_tile, b.lane);
  }
};

} // namespace dk

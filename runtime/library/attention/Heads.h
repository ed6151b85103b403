//===- Heads.h - attention of one head, computed by one thread ------------===//
//
// Each thread caches the copies of a head's matrices (converted to f32, packed) for the last head
// that it computed.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_HEADS_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_HEADS_H

#include "runtime/library/attention/Attention.h"
#include "runtime/library/attention/Blocks.h"

namespace dlc::attention {

/// Addresses of a call's buffers.
struct AttentionBuffers {
  const char *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr;
  char *y = nullptr;
  float *lse = nullptr;
  const char *dy = nullptr;
  char *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

/// State that the forward and the backward pass share.
struct AttentionPass {
  const Attention &request;
  MatmulBackend units;
  const AttentionBuffers *buffers = nullptr;

  char *at(const char *buffer, const View &view, int64_t head, int64_t row) const {
    return const_cast<char *>(buffer) +
           (view.start(request.batch, head) + row * view.row()) * request.bytes();
  }
  /// Returns `count` rows of a head's matrix as f32: in place, or converted from bf16 into `wide`.
  StridedMatrix plain(const char *buffer, const View &view, int64_t head, int64_t first,
                      int64_t count, int64_t size, float *wide) const;
  int64_t wideElements(int64_t count, int64_t size) const {
    return request.narrow ? count * pitch(size) : 0;
  }
  /// Returns the mask's additive values for a query and the keys [first, first + count). Masked
  /// keys have -inf. Returns null if there is no mask.
  const float *bias(int64_t head, int64_t query, int64_t first, int64_t count, float *to) const;
  /// Returns true if all queries have the same mask.
  bool sharesBias() const {
    return request.maskKind != MaskKind::None && (request.queries == 1 || request.mask.row() == 0);
  }
  /// Stores the rows of a padded f32 block, each multiplied by its factor, with the strides of
  /// `view`.
  void store(const float *from, int64_t row, int64_t count, int64_t size, const float *factors,
             char *to, const View &view) const;
};

class AttentionForward : AttentionPass {
public:
  static constexpr int64_t kQueries = 64, kKeys = 512;
  AttentionForward(const Attention &request, MatmulBackend units, const AttentionBuffers *buffers,
                   ScratchAllocator pieces);
  /// Returns the size of one thread's scratch memory in bytes.
  static int64_t scratchBytes(const Attention &request, MatmulBackend units);
  static int64_t blocks(const Attention &request) {
    return (request.queries + kQueries - 1) / kQueries;
  }
  void run(int64_t head, int64_t block);

private:
  int64_t place(ScratchAllocator pieces);
  void enter(int64_t head);
  void attend(int64_t head, int64_t first, int64_t rows, const LeftOperand &q, int64_t key);

  int64_t current = -1;
  int64_t scorePitch = 0, sumPitch = 0;
  PackedMatrix keys, values;
  char *keyBytes = nullptr, *valueBytes = nullptr, *queryBytes = nullptr, *weightBytes = nullptr;
  float *wide = nullptr, *scores = nullptr, *sums = nullptr, *mask = nullptr;
  float *largest = nullptr, *total = nullptr;
};

class AttentionBackward : AttentionPass {
public:
  static constexpr int64_t kQueries = 64, kKeys = 256;
  AttentionBackward(const Attention &request, MatmulBackend units, const AttentionBuffers *buffers,
                    ScratchAllocator pieces);
  static int64_t scratchBytes(const Attention &request, MatmulBackend units);
  static int64_t queryBlocks(const Attention &request) {
    return (request.queries + kQueries - 1) / kQueries;
  }
  static int64_t keyBlocks(const Attention &request) { return (request.keys + kKeys - 1) / kKeys; }
  /// Computes the gradients dq, dk and dv of one head.
  void run(int64_t head);
  /// runQueries() computes dq of a block of queries. runKeys() computes dk and dv of a block of
  /// keys.
  void runQueries(int64_t head, int64_t block);
  void runKeys(int64_t head, int64_t block);

private:
  int64_t place(ScratchAllocator pieces);
  void enter(int64_t head);
  /// Computes the probabilities p and the score gradients ds of a block of queries and a block of
  /// keys. Returns false if no query of the block attends to any of the keys.
  bool scoresOf(int64_t head, int64_t query, int64_t key);
  void addKeys(int64_t query, int64_t key, bool adds);
  void addQueries(int64_t query, int64_t key, float *to, bool adds);
  void storeKeys(int64_t head, int64_t key, bool any);
  void storeQueries(int64_t head, int64_t query, const float *from);

  int64_t current = -1;
  int64_t scorePitch = 0, depthPitch = 0, widthPitch = 0;
  LeftOperand leftQ, leftDy;
  PackedMatrix rightQ, rightDy, rightK, rightV, deepK;
  char *leftQBytes = nullptr, *leftDyBytes = nullptr, *rightQBytes = nullptr,
       *rightDyBytes = nullptr, *rightKBytes = nullptr, *rightVBytes = nullptr,
       *deepKBytes = nullptr, *transposedBytes = nullptr, *straightBytes = nullptr;
  float *wideQ = nullptr, *wideDy = nullptr, *wide = nullptr;
  float *p = nullptr, *ds = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
  float *mask = nullptr, *share = nullptr;
};

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_HEADS_H

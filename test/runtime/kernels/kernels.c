/*===- kernels.c - hand-written kernels with the ABI of compiled ones ---------===*/
#include <stdint.h>

typedef double (*unary)(double);

#define KERNEL(name) __attribute__((section(".text." #name), used)) void name
#define ARGUMENTS                                                                                  \
  (void *const *buffers, int64_t begin, int64_t end, void *scratch, const void *const *ctx)

/* buffers[1][i] = 2 * buffers[0][i] + 1 */
KERNEL(affine) ARGUMENTS {
  const float *src = buffers[0];
  float *dst = buffers[1];
  for (int64_t i = begin; i < end; ++i)
    dst[i] = 2.0f * src[i] + 1.0f;
}

/* buffers[2] = buffers[0] + buffers[1] */
KERNEL(add) ARGUMENTS {
  const float *a = buffers[0], *b = buffers[1];
  float *dst = buffers[2];
  for (int64_t i = begin; i < end; ++i)
    dst[i] = a[i] + b[i];
}

/* buffers[1] = exp(buffers[0]), with exp from the context's table and the thread's scratch. */
KERNEL(exponential) ARGUMENTS {
  const float *src = buffers[0];
  float *dst = buffers[1];
  double *own = scratch;
  for (int64_t i = begin; i < end; ++i) {
    own[0] = ((unary)ctx[0])(src[i]);
    dst[i] = (float)own[0];
  }
}

/* i64 scalars: *buffers[0] += 1; *(bool *)buffers[1] = *buffers[0] < *buffers[2] */
KERNEL(count) ARGUMENTS {
  int64_t *value = buffers[0];
  *value += 1;
  *(uint8_t *)buffers[1] = *value < *(const int64_t *)buffers[2];
}

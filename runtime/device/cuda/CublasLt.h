//===- CublasLt.h - declarations of the cuBLASLt functions in use ------------===//
//
// dlc has its own declarations so that no CUDA header is needed to build it.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_CUBLASLT_H
#define DLC_RUNTIME_DEVICE_CUDA_CUBLASLT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlc::cublaslt {

using Handle = void *;
using MatmulDesc = void *;
using Layout = void *;
using Preference = void *;
using Status = int;

enum : Status { Success = 0, NotSupported = 15 };

enum DataType : int { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, Bf16 = 14 };
enum ComputeType : int { Compute32 = 68, Compute64 = 70, ComputeI32 = 72, ComputeTf32 = 77 };
enum Operation : int { None = 0, Transpose = 1 };
enum MatmulAttribute : int {
  TransA = 3,
  TransB = 4,
  EpilogueKind = 7,
  BiasPointer = 8,
  BiasType = 26
};
enum Epilogue : unsigned { Plain = 1, Relu = 2, Bias = 4 };
enum LayoutAttribute : int { BatchCount = 5, BatchStride = 6 };
enum PreferenceAttribute : int {
  MaxWorkspace = 1,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8
};

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  Status state;
  float waves;
  int reserved[4];
};

struct Functions {
  Status (*create)(Handle *);
  Status (*destroy)(Handle);
  size_t (*version)();
  const char *(*statusName)(Status);
  Status (*matmulDescCreate)(MatmulDesc *, int compute, int scale);
  Status (*matmulDescDestroy)(MatmulDesc);
  Status (*matmulDescSet)(MatmulDesc, int attribute, const void *value, size_t bytes);
  Status (*layoutCreate)(Layout *, int type, uint64_t rows, uint64_t columns, int64_t leading);
  Status (*layoutDestroy)(Layout);
  Status (*layoutSet)(Layout, int attribute, const void *value, size_t bytes);
  Status (*preferenceCreate)(Preference *);
  Status (*preferenceDestroy)(Preference);
  Status (*preferenceSet)(Preference, int attribute, const void *value, size_t bytes);
  Status (*heuristic)(Handle, MatmulDesc, Layout a, Layout b, Layout c, Layout d, Preference,
                      int requested, Heuristic *results, int *returned);
  Status (*matmul)(Handle, MatmulDesc, const void *alpha, const void *a, Layout, const void *b,
                   Layout, const void *beta, const void *c, Layout, void *d, Layout,
                   const Algorithm *, void *workspace, size_t bytes, void *stream);
  std::string error; ///< reason if the library is unavailable
};

/// Returns the functions of cuBLASLt, which is loaded once per process.
const Functions &functions();

} // namespace dlc::cublaslt

#endif // DLC_RUNTIME_DEVICE_CUDA_CUBLASLT_H

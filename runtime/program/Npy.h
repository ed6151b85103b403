//===- Npy.h - NumPy's array files --------------------------------------------===//
//
// Versions 1 to 3, little-endian. NumPy has no bfloat16: it is written as '<V2' (raw two-byte
// records, what ml_dtypes arrays are saved as) and '<V2' reads as bf16; '<u2' stays u16. Arrays in
// Fortran order are turned to C order when read.
//
// 4-bit integers have a byte each in files. They are written as int8 or uint8, which NumPy reads;
// '<V1', what ml_dtypes arrays of int4 and uint4 are saved as, reads as u4. packedArray() makes an
// array of i4 or u4 of any of these.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_NPY_H
#define DLC_RUNTIME_PROGRAM_NPY_H

#include "dlc/DType.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::runtime {

struct NpyArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  /// C order. Aligned to 64 unless it lies in a mapped file.
  Span data;
};

/// Throws dlc::Error saying where and what.
DLC_EXPORT NpyArray readNpy(const std::string &path);
DLC_EXPORT NpyArray parseNpy(const Span &file, const std::string &name);
/// The array as one of i4 or u4 if its elements are integers of 8 bits, or the bits of integers
/// of 4. Throws dlc::Error if an element is out of range. Other arrays are returned unchanged.
DLC_EXPORT NpyArray packedArray(const NpyArray &array, DType dtype, const std::string &name);
/// Writes atomically. `data` is contiguous in C order.
DLC_EXPORT void writeNpy(const std::string &path, DType dtype, const std::vector<int64_t> &shape,
                         const void *data);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_NPY_H

//===- Npy.h - reads and writes NumPy .npy files -----------------------------===//
//
// Supports versions 1 to 3, little-endian. NumPy has no bfloat16: bf16 is written as '<V2' (raw
// two-byte records, as ml_dtypes does), and '<V2' is read as bf16; '<u2' is u16. Arrays in Fortran
// order are transposed to C order when read.
//
// 4-bit integers occupy one byte each in files. They are written as int8 or uint8, which NumPy can
// read. '<V1', which ml_dtypes uses for int4 and uint4, is read as u4. packArray() converts each
// of these to an array of i4 or u4.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_ARRAYS_NPY_H
#define DLC_RUNTIME_PROGRAM_ARRAYS_NPY_H

#include "dlc/DType.h"
#include "runtime/program/AtomicFile.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::runtime {

struct NpyArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  /// Elements in C order. Aligned to 64 bytes unless they are in a mapped file.
  Span data;
};

/// readNpy() reads an .npy file; parseNpy() parses the bytes of one. Both throw dlc::Error with the
/// position in the file and the reason.
DLC_EXPORT NpyArray readNpy(const std::string &path);
DLC_EXPORT NpyArray parseNpy(const Span &file, const std::string &name);
/// Converts an array of 8-bit integers, or of unpacked 4-bit integers, to packed i4 or u4. Throws
/// dlc::Error if an element is out of range. Returns other arrays unchanged.
DLC_EXPORT NpyArray packArray(const NpyArray &array, DType dtype, const std::string &name);
/// Writes an .npy file atomically. `data` is contiguous in C order.
DLC_EXPORT void writeNpy(const std::string &path, DType dtype, const std::vector<int64_t> &shape,
                         const void *data);

/// Writes an .npy file row by row, without the number of rows in advance. commit() rewrites the
/// header. Pipes and devices do not support this: their rows are stored in memory until commit().
/// Without commit(), no file is written. The functions throw dlc::Error.
class DLC_EXPORT NpyRows {
public:
  /// `dtype` must not be a type of 4-bit integers.
  NpyRows(const std::string &path, DType dtype, int64_t rowLength);
  /// Appends a row of `rowLength` elements.
  void append(const void *row);
  void commit();

private:
  AtomicFile file;
  DType dtype;
  int64_t rowLength, rows = 0;
  size_t headerBytes = 0;
  std::vector<char> kept;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_ARRAYS_NPY_H

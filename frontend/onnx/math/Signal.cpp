//===- Signal.cpp - Fourier transforms, window functions, mel weights -----===//
// A Fourier transform is computed as a matmul with a constant matrix of cosines and sines.
#include "frontend/onnx/Node.h"

#include <cmath>

using namespace mlir;

namespace dlc::onnxfront {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Returns the matrices of a Fourier transform: two constants [in, out] with the cos and sin of 2
/// pi k n / length, multiplied by `scale`.
std::pair<Value, Value> twiddles(Build &b, int64_t in, int64_t out, int64_t length, Type element,
                                 double scale) {
  std::vector<double> cosines, sines;
  for (int64_t i = 0; i < in; ++i)
    for (int64_t k = 0; k < out; ++k) {
      double angle = 2 * pi * double(i * k % length) / double(length);
      cosines.push_back(std::cos(angle) * scale);
      sines.push_back(std::sin(angle) * scale);
    }
  return {b.floats(cosines, {in, out}, element), b.floats(sines, {in, out}, element)};
}

struct ComplexValue {
  Value real, imaginary;
};

/// Discrete Fourier transform of the last dimension, which is truncated to `length` if it is
/// larger. The imaginary part of x may be null.
ComplexValue buildDft(Build &b, ComplexValue x, int64_t length, int64_t out, bool inverse) {
  int64_t in = b.dim(x.real, -1);
  if (in > length) {
    int64_t last = b.rank(x.real) - 1;
    x.real = b.sliceAxis(x.real, last, 0, length);
    if (x.imaginary)
      x.imaginary = b.sliceAxis(x.imaginary, last, 0, length);
    in = length;
  }
  if (!b.require(length > 0 && length <= 16384 && in * out <= (int64_t(1) << 24),
                 "transforms of 1 to 16384 points are supported"))
    return {};
  auto [c, s] = twiddles(b, in, out, length, b.elem(x.real), inverse ? 1 / double(length) : 1);
  if (!inverse)
    s = b.unary<NegOp>(s);
  auto times = [&](Value v, Value m) {
    // The matmul treats a vector as a matrix of one row.
    return b.rank(v) == 1 ? b.reshape(b.matmul(b.expandDims(v, 0), m), {out}) : b.matmul(v, m);
  };
  if (!x.imaginary)
    return {times(x.real, c), times(x.real, s)};
  return {b.sub(times(x.real, c), times(x.imaginary, s)),
          b.add(times(x.real, s), times(x.imaginary, c))};
}

/// Splits x [.., 1 or 2] into the real and the imaginary part. With a last dimension of 1, the
/// imaginary part is null.
ComplexValue splitComplex(Build &b, Value x) {
  int64_t last = b.rank(x) - 1;
  return {b.at(x, last, 0), b.dim(x, last) == 2 ? b.at(x, last, 1) : Value()};
}

void dft(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  int64_t axis =
      n.opset >= 20 ? (n.has(2) ? b.needInt(n.in(2), "the axis") : -2) : n.integer("axis", 1);
  axis = b.axis(axis, rank);
  bool inverse = n.integer("inverse", 0) != 0, onesided = n.integer("onesided", 0) != 0;
  if (!b.ok() ||
      !b.require(rank >= 2 && axis < rank - 1 && (b.dim(x, -1) == 1 || b.dim(x, -1) == 2),
                 "required a signal [.., 1 or 2], and an axis that is not the last"))
    return;
  int64_t length = inverse && onesided ? 2 * (b.shape(x)[axis] - 1) : b.shape(x)[axis];
  if (n.has(1))
    length = b.needInt(n.in(1), "the length of the transform");
  if (!b.ok())
    return;
  // Permutation that moves the transformed axis to the end, after the dimension of real and
  // imaginary parts is removed.
  Dims permutation;
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      permutation.push_back(i);
  permutation.push_back(axis);
  ComplexValue z = splitComplex(b, x);
  z.real = b.transpose(z.real, permutation);
  if (z.imaginary)
    z.imaginary = b.transpose(z.imaginary, permutation);
  Dims back(rank - 1);
  for (int64_t i = 0; i < rank - 1; ++i)
    back[permutation[i]] = i;
  if (inverse && onesided) {
    // An inverse one-sided transform is given half of the spectrum. The other half is its mirrored
    // complex conjugate.
    int64_t last = rank - 2, half = length / 2 + 1;
    if (!b.require(b.dim(z.real, last) >= 1, "the spectrum is empty"))
      return;
    if (!z.imaginary)
      z.imaginary = b.mul(z.real, 0.0);
    auto fit = [&](Value v, bool conjugate) {
      Dims low(rank - 1, 0), high(rank - 1, 0);
      if (b.dim(v, last) > half)
        v = b.sliceAxis(v, last, 0, half);
      high[last] = half - b.dim(v, last);
      v = b.padZero(v, low, high);
      int64_t mirrored = length - half;
      if (mirrored <= 0)
        return v;
      Value tail = b.reverse(b.sliceAxis(v, last, 1, mirrored), last);
      return b.concat({v, conjugate ? b.unary<NegOp>(tail) : tail}, last);
    };
    ComplexValue full{fit(z.real, false), fit(z.imaginary, true)};
    ComplexValue y = buildDft(b, full, length, length, true);
    return n.set(0, b.expandDims(b.transpose(y.real, back), rank - 1));
  }
  int64_t out = onesided ? length / 2 + 1 : length;
  ComplexValue y = buildDft(b, z, length, out, inverse);
  n.set(0, b.stack({b.transpose(y.real, back), b.transpose(y.imaginary, back)}, rank - 1));
}

void stft(Node &n, Build &b) {
  Value x = n.in(0), window = n.in(2);
  int64_t step = b.needInt(n.in(1), "the frame step");
  if (b.rank(x) == 2)
    x = b.expandDims(x, 2);
  if (!b.ok() || !b.require(b.rank(x) == 3 && step > 0,
                            "required a signal [batch, length, 1 or 2], and a positive step"))
    return;
  int64_t samples = b.dim(x, 1), size = samples;
  if (n.has(3))
    size = b.needInt(n.in(3), "the frame length");
  else if (window)
    size = b.dim(window, 0);
  if (!b.ok() || !b.require(size > 0 && size <= samples && samples < (1 << 24),
                            "the frame must not be longer than the signal"))
    return;
  int64_t frames = 1 + (samples - size) / step;
  Dims index;
  if (!b.require(frames * size <= (int64_t(1) << 24), "there are too many frames"))
    return;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < size; ++i)
      index.push_back(f * step + i);
  Value places = b.ints(index, {frames, size}, b.i64);
  auto cut = [&](Value v) {
    Value framed = b.gather(v, places, 1);
    return window ? b.mul(framed, b.cast(window, b.elem(v))) : framed;
  };
  ComplexValue z = splitComplex(b, x);
  z.real = cut(z.real);
  if (z.imaginary)
    z.imaginary = cut(z.imaginary);
  int64_t out = n.integer("onesided", 1) ? size / 2 + 1 : size;
  ComplexValue y = buildDft(b, z, size, out, false);
  n.set(0, b.stack({y.real, y.imaginary}, 3));
}

/// Window function a - b cos(2 pi n / N) + c cos(4 pi n / N), such as Hann, Hamming and Blackman.
void cosineWindow(Node &n, Build &b, double a, double c1, double c2) {
  int64_t size = b.needInt(n.in(0), "the window's size");
  Type element = n.dataType("output_datatype", onnx::TensorProto::FLOAT);
  if (!b.ok() ||
      !b.require(size >= 0 && size <= (int64_t(1) << 24), "the window's size is out of range"))
    return;
  double period = double(n.integer("periodic", 1) ? size : size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    double angle = period == 0 ? 0 : 2 * pi * double(i) / period;
    values.push_back(a - c1 * std::cos(angle) + c2 * std::cos(2 * angle));
  }
  n.set(0, b.floats(values, {size}, element));
}

void hann(Node &n, Build &b) { cosineWindow(n, b, 0.5, 0.5, 0); }
void hamming(Node &n, Build &b) { cosineWindow(n, b, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Node &n, Build &b) { cosineWindow(n, b, 0.42, 0.5, 0.08); }

void melWeightMatrix(Node &n, Build &b) {
  int64_t bins = b.needInt(n.in(0), "num_mel_bins"), length = b.needInt(n.in(1), "dft_length");
  int64_t rate = b.needInt(n.in(2), "sample_rate");
  double low = b.needDouble(n.in(3), "lower_edge_hertz"),
         high = b.needDouble(n.in(4), "upper_edge_hertz");
  Type element = n.dataType("output_datatype", onnx::TensorProto::FLOAT);
  if (!b.ok() ||
      !b.require(bins > 0 && bins < 65536 && length > 0 && length < (1 << 24) && rate > 0,
                 "the numbers of bins, points and samples must be positive"))
    return;
  int64_t spectrum = length / 2 + 1;
  if (!b.require(spectrum * bins < (int64_t(1) << 26), "the matrix is too large"))
    return;
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double from = mel(low), step = (mel(high) - from) / double(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (from + double(i) * step) / 2595) - 1);
    double edge = std::floor(double(length + 1) * hertz / double(rate));
    if (!b.require(edge >= 0 && edge <= double(spectrum) + 1,
                   "the edges must be between 0 and half the sample rate"))
      return;
    edges.push_back(int64_t(edge));
  }
  std::vector<double> values(size_t(spectrum * bins), 0.0);
  for (int64_t m = 0; m < bins; ++m) {
    int64_t lower = edges[m], centre = edges[m + 1], upper = edges[m + 2];
    auto put = [&](int64_t f, double v) {
      if (f >= 0 && f < spectrum)
        values[size_t(f * bins + m)] = v;
    };
    if (centre == lower)
      put(centre, 1);
    else
      for (int64_t f = lower; f <= centre; ++f)
        put(f, double(f - lower) / double(centre - lower));
    for (int64_t f = centre; centre < upper && f < upper; ++f)
      put(f, double(upper - f) / double(upper - centre));
  }
  n.set(0, b.floats(values, {spectrum, bins}, element));
}

/// Checks that the attributes specify a one-dimensional, one-sided transform without normalization.
/// Its spectrum has real and imaginary parts in the last dimension.
bool checkPlainTransform(Node &n, Build &b) {
  return b.require(n.integer("signal_ndim", 1) == 1 && n.integer("onesided", 1) == 1 &&
                       n.integer("normalized", 0) == 0,
                   "transforms of one dimension that are one-sided and not normalised are "
                   "supported: signal_ndim=1, onesided=1, normalized=0");
}

void rfft(Node &n, Build &b) {
  Value x = n.in(0);
  if (!checkPlainTransform(n, b) || !b.require(b.rank(x) >= 1, "required rank 1 or more"))
    return;
  int64_t length = b.dim(x, -1);
  ComplexValue y = buildDft(b, {x, {}}, length, length / 2 + 1, false);
  n.set(0, b.stack({y.real, y.imaginary}, b.rank(x)));
}

/// Irfft: inverse transform of a one-sided spectrum. Each element that is mirrored in the missing
/// half of the spectrum counts twice.
void irfft(Node &n, Build &b) {
  Value x = n.in(0);
  if (!checkPlainTransform(n, b) ||
      !b.require(b.rank(x) >= 2 && b.dim(x, -1) == 2 && b.dim(x, -2) >= 2 && b.dim(x, -2) <= 8193,
                 "required a spectrum [.., 2 to 8193, 2]"))
    return;
  int64_t half = b.dim(x, -2), length = 2 * (half - 1);
  std::vector<double> weights(size_t(half), 2);
  weights.front() = weights.back() = 1;
  Value weight = b.floats(weights, {half}, b.elem(x));
  ComplexValue z = splitComplex(b, x);
  z = {b.mul(z.real, weight), b.mul(z.imaginary, weight)};
  n.set(0, buildDft(b, z, length, length, true).real);
}

const Operator table[] = {
    {"DFT", dft},
    {"STFT", stft},
    {"HannWindow", hann},
    {"HammingWindow", hamming},
    {"BlackmanWindow", blackman},
    {"MelWeightMatrix", melWeightMatrix},
    {"Rfft", 1, rfft, "normalized onesided signal_ndim", microsoft},
    {"Irfft", 1, irfft, "normalized onesided signal_ndim", microsoft},
};

} // namespace

ArrayRef<Operator> signalOperators() { return table; }

} // namespace dlc::onnxfront

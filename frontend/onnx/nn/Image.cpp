//===- Image.cpp - samples images at computed coordinates -----------------===//
#include "frontend/builder/Sample.h"
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {

namespace {

void gridSample(Node &n, Build &b) {
  GridSampleOptions how{n.string("mode", n.opset >= 20 ? "linear" : "bilinear"),
                        n.string("padding_mode", "zeros"), n.integer("align_corners", 0) != 0};
  if (how.mode == "bilinear")
    how.mode = "linear";
  if (how.mode == "bicubic")
    how.mode = "cubic";
  if (how.mode != "linear" && how.mode != "nearest" && how.mode != "cubic")
    return n.unsupported("mode", how.mode, "linear, nearest, cubic");
  if (how.padding != "zeros" && how.padding != "border" && how.padding != "reflection")
    return n.unsupported("padding_mode", how.padding, "zeros, border, reflection");
  n.set(0, sampleGrid(b, n.in(0), n.in(1), how));
}

/// Returns the spatial sizes of an affine grid, which are the last entries of `size`.
Dims gridShape(int64_t spatial, const Dims &size) { return Dims(size.end() - spatial, size.end()); }

void affineGrid(Node &n, Build &b) {
  Value theta = n.in(0);
  Dims size = b.needInts(n.in(1), "the size");
  int64_t spatial = int64_t(size.size()) - 2;
  bool corners = n.integer("align_corners", 0) != 0;
  if (!b.ok() ||
      !b.require((spatial == 2 || spatial == 3) && b.rank(theta) == 3 &&
                     b.dim(theta, 1) == spatial && b.dim(theta, 2) == spatial + 1 &&
                     b.dim(theta, 0) == size[0],
                 "required theta [N, 2, 3] and a size of 4, or theta [N, 3, 4] and a size of 5"))
    return;
  Dims shape = gridShape(spatial, size);
  int64_t total = 1;
  for (int64_t d : shape) {
    if (!b.require(d > 0 && total < (int64_t(1) << 32) / d,
                   "the size is not positive, or too large"))
      return;
    total *= d;
  }
  Type element = b.elem(theta), wide = element == b.f64 ? b.f64 : b.f32;
  std::vector<Value> columns;
  for (int64_t d = spatial; d-- > 0;) {
    double extent = double(shape[d]);
    Value at = b.iota(wide, shape, d);
    at = corners ? (shape[d] > 1 ? b.sub(b.mul(at, 2 / (extent - 1)), 1.0) : b.sub(at, 1.0))
                 : b.sub(b.mul(b.add(at, 0.5), 2 / extent), 1.0);
    columns.push_back(b.reshape(at, {total, 1}));
  }
  columns.push_back(b.splat(wide, {total, 1}, 1));
  Value y = b.matmul(b.expandDims(b.concat(columns, 1), 0), b.cast(theta, wide), false, true);
  Dims out{size[0]};
  out.insert(out.end(), shape.begin(), shape.end());
  out.push_back(spatial);
  n.set(0, b.cast(b.reshape(y, out), element));
}

struct RoiSettings {
  int64_t height, width;
  bool average;
};

/// A batch of images, flattened to one row of channels per pixel: [N * height * width, C].
struct FlattenedImages {
  Value rows;
  int64_t height, width;
};

/// RoiAlign: averages or maximizes samples of image regions, with gh x gw samples per bin. `image`
/// is the image index of each region, i64 [R].
Value alignRegions(Build &b, const FlattenedImages &x, Value image, Value start, Value bin,
                   const RoiSettings &s, int64_t gh, int64_t gw) {
  const int64_t R = b.dim(start, 0), grid[2] = {gh, gw}, bins[2] = {s.height, s.width},
                extents[2] = {x.height, x.width};
  // Pixel indices and interpolation weights of the lower and the upper neighbor in each spatial
  // dimension, as [R, samples, 1] for the height and [R, 1, samples] for the width.
  Value rows[2][2], weights[2][2];
  for (int d = 0; d < 2; ++d) {
    // The coordinate of each sample of each bin in dimension d is start + (bin + (sample + 0.5) /
    // grid) * size. `steps` is the factor of the size.
    std::vector<double> steps;
    for (int64_t each = 0; each < bins[d]; ++each)
      for (int64_t sample = 0; sample < grid[d]; ++sample)
        steps.push_back(double(each) + (double(sample) + 0.5) / double(grid[d]));
    const int64_t number = bins[d] * grid[d];
    const double last = double(extents[d] - 1);
    Value at = b.add(b.mul(b.sliceAxis(bin, 1, d, 1), b.floats(steps, {1, number}, b.elem(bin))),
                     b.sliceAxis(start, 1, d, 1));
    Value valid = b.both(b.compare(Predicate::ge, at, b.like(at, -1)),
                         b.compare(Predicate::le, at, b.like(at, last + 1)));
    at = b.reshape(b.clamp(at, 0, last), d == 0 ? Dims{R, number, 1} : Dims{R, 1, number});
    valid = b.reshape(valid, b.shape(at));
    Value low = b.unary<FloorOp>(at), fraction = b.sub(at, low);
    for (int side = 0; side < 2; ++side) {
      Value weight = side ? fraction : b.sub(b.like(fraction, 1), fraction);
      weights[d][side] = b.select(valid, weight, b.like(weight, 0));
      // The upper neighbor is clamped to the last pixel. At the last pixel its weight is 0.
      Value place = b.cast(low, b.i64);
      place = side ? b.min(b.add(place, 1.0), b.like(place, last)) : place;
      rows[d][side] = d == 0 ? b.mul(place, double(x.width)) : place;
    }
  }
  Value first = b.reshape(b.mul(image, double(x.height * x.width)), {R, 1, 1}), sum;
  const int64_t places = R * s.height * gh * s.width * gw;
  for (int corner = 0; corner < 4 && b.ok(); ++corner) {
    const int y = corner & 1, column = corner >> 1;
    Value weight = b.reshape(b.mul(weights[0][y], weights[1][column]), {places, 1});
    Value row = b.reshape(b.add(b.add(rows[0][y], first), rows[1][column]), {places});
    Value term = b.mul(b.gather(x.rows, row, 0), weight);
    sum = !sum ? term : s.average ? b.add(sum, term) : b.max(sum, term);
  }
  sum = b.reshape(sum, {R, s.height, gh, s.width, gw, b.dim(x.rows, 1)});
  sum = b.reduce(s.average ? ReduceKind::mean : ReduceKind::max, sum, {2, 4}, false);
  return b.transpose(sum, {0, 3, 1, 2});
}

void roiAlign(Node &n, Build &b) {
  Value x = n.in(0), rois = n.in(1), batch = n.in(2);
  std::string mode = n.string("mode", "avg");
  std::string transform = n.string("coordinate_transformation_mode",
                                   n.opset >= 16 ? "half_pixel" : "output_half_pixel");
  int64_t ratio = n.integer("sampling_ratio", 0);
  RoiSettings s{n.integer("output_height", 1), n.integer("output_width", 1), mode == "avg"};
  if (mode != "avg" && mode != "max")
    return n.unsupported("mode", mode, "avg, max");
  if (transform != "half_pixel" && transform != "output_half_pixel")
    return n.unsupported("coordinate_transformation_mode", transform,
                         "half_pixel, output_half_pixel");
  auto sane = [](int64_t v, int64_t low) { return v >= low && v <= 4096; };
  if (!b.require(b.rank(x) == 4 && b.rank(rois) == 2 && b.dim(rois, 1) == 4 && b.rank(batch) == 1 &&
                     b.dim(batch, 0) == b.dim(rois, 0),
                 "required x [N, C, H, W], rois [R, 4] and batch_indices [R]") ||
      !b.require(sane(s.height, 1) && sane(s.width, 1) && sane(ratio, 0),
                 "the output's size or the sampling ratio is out of range"))
    return;
  if (auto known = b.known(batch))
    for (int64_t i = 0; i < known->size(); ++i)
      if (!b.require(known->getInt(i) >= 0 && known->getInt(i) < b.dim(x, 0),
                     "a batch index is out of range; required: 0 to " + Twine(b.dim(x, 0) - 1) +
                         "; found: " + Twine(known->getInt(i)) + "; correct batch_indices"))
        return;
  bool half = transform == "half_pixel";
  Value scaled = b.mul(rois, n.real("spatial_scale", 1));
  if (half)
    scaled = b.sub(scaled, 0.5);
  // The regions are x1, y1, x2, y2. Start and end are reversed to (height, width), as [R, 2].
  Value start = b.reverse(b.sliceAxis(scaled, 1, 0, 2), 1),
        end = b.reverse(b.sliceAxis(scaled, 1, 2, 2), 1);
  Value size = b.sub(end, start);
  if (!half)
    size = b.max(size, b.like(size, 1));
  Value bin = b.div(size, b.floats({double(s.height), double(s.width)}, {1, 2}, b.elem(x)));
  const int64_t N = b.dim(x, 0), C = b.dim(x, 1), height = b.dim(x, 2), width = b.dim(x, 3);
  const FlattenedImages pixels{b.reshape(b.transpose(x, {0, 2, 3, 1}), {N * height * width, C}),
                               height, width};
  Value image = N == 1 ? b.splat(b.i64, b.shape(batch), 0) : b.cast(batch, b.i64);
  if (ratio > 0)
    return n.set(0, alignRegions(b, pixels, image, start, bin, s, ratio, ratio));
  auto bins = b.need(bin, "the regions, since sampling_ratio is 0,");
  if (!bins)
    return;
  std::vector<Value> results;
  for (int64_t r = 0; r < bins->getShape()[0] && b.ok(); ++r) {
    double h = std::ceil(bins->getDouble(2 * r)), w = std::ceil(bins->getDouble(2 * r + 1));
    if (!b.require(h < 4096 && w < 4096, "a region is too large"))
      return;
    auto one = [&](Value v) { return b.sliceAxis(v, 0, r, 1); };
    results.push_back(alignRegions(b, pixels, one(image), one(start), one(bin), s,
                                   std::max<int64_t>(1, int64_t(h)),
                                   std::max<int64_t>(1, int64_t(w))));
  }
  n.set(0, results.empty() ? b.splat(b.elem(x), {0, b.dim(x, 1), s.height, s.width}, 0)
                           : b.concat(results, 0));
}

const Operator table[] = {
    {"GridSample", gridSample},
    {"AffineGrid", affineGrid},
    {"RoiAlign", roiAlign},
};

} // namespace

ArrayRef<Operator> imageOperators() { return table; }

} // namespace dlc::onnxfront

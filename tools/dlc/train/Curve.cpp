//===- Curve.cpp - plots the loss of each step as SVG ---------------------===//
#include "tools/dlc/train/Curve.h"

#include "tools/dlc/report/Graph.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dlc::cli {
namespace {

constexpr double width = 800, height = 420, left = 70, right = 20, top = 40, bottom = 50;

/// Returns a distance of axis ticks, 1, 2 or 5 times a power of ten, so that about `parts` ticks
/// cover `range`.
double axisTickStep(double range, int parts) {
  double rough = range / parts, power = std::pow(10, std::floor(std::log10(rough)));
  for (double factor : {1., 2., 5.})
    if (rough <= factor * power)
      return factor * power;
  return 10 * power;
}

std::string format(const char *pattern, auto... values) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::vector<double> computeMovingMean(const std::vector<double> &losses) {
  size_t window = std::max<size_t>(1, losses.size() / 50);
  std::vector<double> means;
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i] - (i >= window ? losses[i - window] : 0);
    means.push_back(sum / double(std::min(i + 1, window)));
  }
  return means;
}

} // namespace

std::string drawLossCurve(const std::vector<double> &losses, int64_t first,
                          const std::string &title) {
  double low = INFINITY, high = -INFINITY;
  for (double loss : losses) {
    low = std::min(low, loss);
    high = std::max(high, loss);
  }
  if (!(high > low)) {
    low = std::isfinite(low) ? low - 0.5 : 0;
    high = low + 1;
  }
  double last = double(std::max<size_t>(losses.size(), 2) - 1);
  auto x = [&](double step) { return left + (width - left - right) * step / last; };
  auto y = [&](double loss) {
    return height - bottom - (height - top - bottom) * (loss - low) / (high - low);
  };
  std::string svg = format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                           "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"12\">\n",
                           width, height, width, height);
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg +=
      format("<text x=\"%g\" y=\"24\" font-size=\"15\">", left) + escapeHtml(title) + "</text>\n";
  double step = axisTickStep(high - low, 6);
  for (auto number = int64_t(std::ceil(low / step)); double(number) * step <= high; ++number) {
    double tick = double(number) * step;
    svg += format("<path d=\"M%g %.2fH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%.2f\" "
                  "text-anchor=\"end\">%g</text>\n",
                  left, y(tick), width - right, left - 6, y(tick) + 4, tick);
  }
  double stride = std::max(1., axisTickStep(last, 8));
  for (int64_t number = 0; double(number) * stride <= last; ++number)
    svg += format("<text x=\"%.2f\" y=\"%g\" text-anchor=\"middle\">%.0f</text>\n",
                  x(double(number) * stride), height - bottom + 18,
                  double(first) + double(number) * stride);
  svg += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">step</text>\n", (left + width) / 2,
                height - 10);
  auto line = [&](const std::vector<double> &values, const char *style) {
    // Limits the plot to a few thousand points: more would only make the file larger, not the curve
    // finer.
    size_t every = std::max<size_t>(1, values.size() / 4000);
    svg += "<polyline fill=\"none\" ";
    svg += style;
    svg += " points=\"";
    for (size_t i = 0; i < values.size(); i += every)
      svg += format("%.1f,%.1f ", x(double(i)), y(values[i]));
    svg += "\"/>\n";
  };
  line(losses, "stroke=\"#9bc\" stroke-width=\"1\"");
  line(computeMovingMean(losses), "stroke=\"#247\" stroke-width=\"2\"");
  return svg + "</svg>\n";
}

} // namespace dlc::cli

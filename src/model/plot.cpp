#include "skel/model/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.hpp"

namespace skel::model {

namespace {

constexpr double width = 560, height = 360, left = 66, right = 150, top = 30, bottom = 44;
// From ColorBrewer's Dark2, also distinguishable by colour-blind readers.
constexpr std::array colours{"#1b9e77", "#d95f02", "#7570b3", "#e7298a",
                             "#66a61e", "#a6761d", "#1f78b4", "#666666"};

std::string escaped(std::string const& text) {
  std::string out;
  for (char const c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// Maps the values of one axis to pixels and chooses its ticks.
class axis {
 public:
  axis(bool logarithmic, double from_pixel, double to_pixel)
      : logarithmic_(logarithmic), from_pixel_(from_pixel), to_pixel_(to_pixel) {}
  [[nodiscard]] bool shows(double x) const { return std::isfinite(x) && (!logarithmic_ || x > 0); }
  void include(double x) {
    if (!shows(x)) return;
    least_ = std::min(least_, x);
    most_ = std::max(most_, x);
  }
  void settle() {
    if (least_ > most_) least_ = most_ = 1;
    if (logarithmic_) {
      least_ = std::pow(10, std::floor(std::log10(least_)));
      most_ = std::pow(10, std::ceil(std::log10(most_)));
      if (least_ == most_) most_ *= 10;
      return;
    }
    least_ = std::min(least_, 0.0);
    if (most_ <= least_) most_ = least_ + 1;
    // The step is 1, 2 or 5 times a power of ten and gives four to eight ticks.
    double const rough = (most_ - least_) / 5;
    double const power = std::pow(10, std::floor(std::log10(rough)));
    step_ = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
    least_ = std::floor(least_ / step_) * step_;
    most_ = std::ceil(most_ / step_) * step_;
  }
  [[nodiscard]] double at(double x) const {
    double const share = logarithmic_ ? (std::log10(x / least_)) / std::log10(most_ / least_)
                                      : (x - least_) / (most_ - least_);
    return from_pixel_ + share * (to_pixel_ - from_pixel_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> all;
    if (logarithmic_) {
      double const decades = std::round(std::log10(most_ / least_));
      double const stride = std::ceil(decades / 8);
      for (double d = 0; d <= decades; d += stride) all.push_back(least_ * std::pow(10, d));
    } else {
      double const count = std::round((most_ - least_) / step_);
      for (double i = 0; i <= count; ++i) all.push_back(least_ + i * step_);
    }
    return all;
  }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  bool logarithmic_;
  double from_pixel_, to_pixel_;
  double least_ = HUGE_VAL, most_ = -HUGE_VAL, step_ = 1;
};

std::string text_at(double x, double y, char const* anchor, std::string const& text, char const* more = "") {
  return detail::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                        more, escaped(text));
}

std::string line_at(double x1, double y1, double x2, double y2, char const* style) {
  return detail::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2,
                        y2, style);
}

std::string drawn(series const& s, axis const& x, axis const& y, char const* colour) {
  std::string path;
  std::string dots;
  for (auto const& [a, b] : s.points) {
    if (!x.shows(a) || !y.shows(b)) continue;
    path += detail::format("{:.1f},{:.1f} ", x.at(a), y.at(b));
    if (s.markers)
      dots += detail::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", x.at(a),
                             y.at(b), colour);
  }
  if (s.line)
    dots += detail::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
                           path, colour);
  return dots;
}

std::string content(plot const& p) {
  axis x(p.log_x, left, width - right);
  axis y(p.log_y, height - bottom, top);
  for (auto const& s : p.data)
    for (auto const& [a, b] : s.points)
      if (x.shows(a) && y.shows(b)) {
        x.include(a);
        y.include(b);
        if (p.diagonal) {
          x.include(b);
          y.include(a);
        }
      }
  x.settle();
  y.settle();
  std::string out = text_at((left + width - right) / 2, 18, "middle", p.title, " font-size=\"13\"");
  for (double const t : x.ticks()) {
    out += line_at(x.at(t), top, x.at(t), height - bottom, "stroke=\"#ddd\"");
    out += text_at(x.at(t), height - bottom + 14, "middle", detail::format("{:.3g}", t));
  }
  for (double const t : y.ticks()) {
    out += line_at(left, y.at(t), width - right, y.at(t), "stroke=\"#ddd\"");
    out += text_at(left - 5, y.at(t) + 4, "end", detail::format("{:.3g}", t));
  }
  out += text_at((left + width - right) / 2, height - 8, "middle", p.x_label);
  out += text_at(14, (top + height - bottom) / 2, "middle", p.y_label,
                 detail::format(" transform=\"rotate(-90 14 {:.1f})\"", (top + height - bottom) / 2).c_str());
  if (p.diagonal)
    out += line_at(x.at(x.least()), y.at(x.least()), x.at(x.most()), y.at(x.most()),
                   "stroke=\"#888\" stroke-dasharray=\"4 3\"");
  for (std::size_t i = 0; i < p.data.size(); ++i) {
    auto const* const colour = colours[i % colours.size()];
    out += drawn(p.data[i], x, y, colour);
    out += text_at(width - right + 8, top + 12 + 15 * static_cast<double>(i), "start", p.data[i].name,
                   detail::format(" fill=\"{}\"", colour).c_str());
  }
  return out;
}

}  // namespace

std::string to_svg(std::vector<plot> const& plots) {
  auto const count = static_cast<double>(plots.size());
  std::string out = detail::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height * count);
  for (std::size_t i = 0; i < plots.size(); ++i)
    out += detail::format("<g transform=\"translate(0 {})\">\n{}</g>\n", height * static_cast<double>(i),
                          content(plots[i]));
  return out + "</svg>\n";
}

std::string plot::to_svg() const { return skel::model::to_svg(std::vector<plot>{*this}); }

}  // namespace skel::model

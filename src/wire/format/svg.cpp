#include "wire/format/svg.h"

#include <cmath>

#include "slackline/base/text.h"

namespace slackline::wire {
std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML allows no control characters, escaped or not.
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string svg_number(double value) {
  const double rounded = std::round(value * 100) / 100;
  return format("{}", rounded == 0 ? 0.0 : rounded);
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description,
         std::string_view id) {
  out_ = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"{4}title {4}desc\" "
      "viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<title id=\"{4}title\">{2}</title>\n<desc id=\"{4}desc\">{3}</desc>\n",
      svg_number(width), svg_number(height), markup_escaped(title), markup_escaped(description),
      id);
}

Svg& Svg::style(std::string_view css) {
  out_ += format("<style>{}</style>\n", css);
  return *this;
}

Svg& Svg::definitions(std::string_view xml) {
  out_ += format("<defs>{}</defs>\n", xml);
  return *this;
}

Svg& Svg::rect(double x, double y, double width, double height, std::string_view css_class,
               std::string_view tooltip) {
  out_ += format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css_class,
                 svg_number(x), svg_number(y), svg_number(width), svg_number(height));
  close("rect", tooltip);
  return *this;
}

Svg& Svg::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  out_ += format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", css_class,
                 svg_number(x1), svg_number(y1), svg_number(x2), svg_number(y2));
  close("line", {});
  return *this;
}

Svg& Svg::path(std::string_view data, std::string_view css_class, std::string_view tooltip) {
  out_ += format("<path class=\"{}\" d=\"{}\"", css_class, data);
  close("path", tooltip);
  return *this;
}

Svg& Svg::text(double x, double y, std::string_view css_class, std::string_view text,
               double degrees) {
  out_ += format("<text class=\"{}\" x=\"{}\" y=\"{}\"", css_class, svg_number(x), svg_number(y));
  if (degrees != 0)
    out_ += format(" transform=\"rotate({} {} {})\"", svg_number(degrees), svg_number(x),
                   svg_number(y));
  out_ += format(">{}</text>\n", markup_escaped(text));
  return *this;
}

void Svg::close(std::string_view element, std::string_view tooltip) {
  out_ += tooltip.empty() ? "/>\n"
                          : format("><title>{}</title></{}>\n", markup_escaped(tooltip), element);
}

}  // namespace slackline::wire

// Svg: a standalone SVG drawing, element by element. Nothing in it depends on the machine: the same
// calls give the same bytes.
//
// Coordinates are pixels from the top left, written to 0.01. Text is escaped. Elements carry a
// class; style() defines the look of each class once. The title and the description are read by
// screen readers.
#pragma once

#include <string>
#include <string_view>

namespace slackline::wire {

// For an element's text, or an attribute in double quotes, of XML and HTML; control characters
// become spaces.
std::string markup_escaped(std::string_view text);

class Svg {
 public:
  // `id` begins the ids of title and description: several drawings of one page need their own.
  Svg(double width, double height, std::string_view title, std::string_view description,
      std::string_view id = {});

  Svg& style(std::string_view css);        // trusted, as it stands
  Svg& definitions(std::string_view xml);  // trusted: patterns that a style refers to
  Svg& rect(double x, double y, double width, double height, std::string_view css_class,
            std::string_view tooltip = {});
  Svg& line(double x1, double y1, double x2, double y2, std::string_view css_class);
  Svg& path(std::string_view data, std::string_view css_class, std::string_view tooltip = {});
  // `degrees` turn the text around its anchor; the class says whether that is start, middle or end.
  Svg& text(double x, double y, std::string_view css_class, std::string_view text,
            double degrees = 0);

  std::string str() const { return out_ + "</svg>\n"; }

 private:
  void close(std::string_view element, std::string_view tooltip);

  std::string out_;
};

// "12.5", at most two decimals and none without need; how paths are written.
std::string svg_number(double value);

}  // namespace slackline::wire

// The shapes of SVG 1.1 that the plot needs. The output is well-formed XML for any text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace spillway::simulate {

// UTF-8 text for content and quoted attributes: & < > " ' escaped, control characters (which XML
// 1.0 forbids even when escaped) left out.
std::string escape(std::string_view text);

// A length or position in user units, rounded to a tenth: "12", "12.5"; "0" if not finite.
std::string coordinate(double value);

enum class Anchor { start, middle, end };  // which point of a text is at its position

struct TextStyle {
  double size = 12;
  std::string_view colour = "#1f2933";
  Anchor anchor = Anchor::start;
  bool bold = false;
};

class Svg {
 public:
  void rect(double x, double y, double width, double height, std::string_view fill,
            double opacity = 1);
  // `path` has the syntax of SVG paths.
  void area(std::string_view path, std::string_view fill);
  void line(std::string_view path, std::string_view stroke, double width = 1, bool dashed = false);
  void text(double x, double y, std::string_view content, const TextStyle& style = {});

  // The whole picture on a white background; `title` is for screen readers.
  std::string finish(double width, double height, std::string_view title) const;

 private:
  using Attribute = std::pair<std::string_view, std::string>;  // a name and its escaped value

  void element(std::string_view name, std::initializer_list<Attribute> attributes,
               std::string_view content = {});

  std::string body_;
};

}  // namespace spillway::simulate

// Writes the few elements of SVG 1.1 that a plot needs, well-formed whatever the texts hold.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace spillway::simulate {

// UTF-8 text for content and quoted attributes: & < > " ' escaped, control characters (which XML
// 1.0 forbids even when escaped) left out.
std::string escape(std::string_view text);

// A length or position in user units, rounded to a tenth: "12", "12.5"; "0" when not finite.
std::string coordinate(double value);

struct Attribute {
  Attribute(std::string_view key, std::string_view text) : name(key), value(escape(text)) {}
  Attribute(std::string_view key, double number) : name(key), value(coordinate(number)) {}

  std::string_view name;
  std::string value;  // escaped
};

using Attributes = std::initializer_list<Attribute>;

// Which point of a text stands at its position.
enum class Anchor { start, middle, end };

struct Type {
  double size = 12;
  std::string_view colour = "#1f2933";
  Anchor anchor = Anchor::start;
  bool bold = false;
};

class Svg {
 public:
  // A picture of that size on a background of its own; `title` is what a screen reader says.
  Svg(double width, double height, std::string_view title);

  void element(std::string_view name, Attributes attributes);
  // The same with a tooltip.
  void element(std::string_view name, Attributes attributes, std::string_view tooltip);
  void text(double x, double y, std::string_view content, const Type& type = {});

  // The whole picture. Nothing can be added afterwards.
  std::string finish() &&;

 private:
  void open(std::string_view name, Attributes attributes);

  std::string out_;
};

}  // namespace spillway::simulate

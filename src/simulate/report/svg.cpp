#include "simulate/report/svg.hpp"

#include <cmath>
#include <cstddef>

#include "simulate/recording/figures.hpp"

namespace spillway::simulate {

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

void Svg::rect(double x, double y, double width, double height, std::string_view fill,
               double opacity) {
  element("rect", {{"x", coordinate(x)},
                   {"y", coordinate(y)},
                   {"width", coordinate(width)},
                   {"height", coordinate(height)},
                   {"fill", escape(fill)},
                   {"fill-opacity", fixed(opacity, 2)}});
}

void Svg::area(std::string_view path, std::string_view fill) {
  element("path", {{"d", escape(path)}, {"fill", escape(fill)}});
}

void Svg::line(std::string_view path, std::string_view stroke, double width, bool dashed) {
  element("path", {{"d", escape(path)},
                   {"fill", "none"},
                   {"stroke", escape(stroke)},
                   {"stroke-width", coordinate(width)},
                   {"stroke-dasharray", dashed ? "3 3" : "none"}});
}

void Svg::text(double x, double y, std::string_view content, const TextStyle& style) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  element("text",
          {{"x", coordinate(x)},
           {"y", coordinate(y)},
           {"font-size", coordinate(style.size)},
           {"fill", escape(style.colour)},
           {"text-anchor", kAnchors[static_cast<std::size_t>(style.anchor)]},
           {"font-weight", style.bold ? "600" : "400"}},
          content);
}

std::string Svg::finish(double width, double height, std::string_view title) const {
  const std::string w = coordinate(width), h = coordinate(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"system-ui, "
         "-apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" width=\"" +
         w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + ' ' + h + "\">\n<title>" +
         escape(title) + "</title>\n<rect width=\"" + w + "\" height=\"" + h +
         "\" fill=\"#ffffff\"/>\n" + body_ + "</svg>\n";
}

void Svg::element(std::string_view name, std::initializer_list<Attribute> attributes,
                  std::string_view content) {
  body_.append("<").append(name);
  for (const auto& [key, value] : attributes) {
    body_.append(" ").append(key).append("=\"").append(value).append("\"");
  }
  body_.append(">").append(escape(content)).append("</").append(name).append(">\n");
}

}  // namespace spillway::simulate

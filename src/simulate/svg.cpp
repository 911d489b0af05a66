#include "simulate/svg.hpp"

#include <cmath>
#include <utility>

#include "simulate/figures.hpp"

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

Svg::Svg(double width, double height, std::string_view title) {
  out_ =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" font-family=\"system-ui, "
      "-apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" ";
  out_ += "width=\"" + coordinate(width) + "\" height=\"" + coordinate(height) +
          "\" viewBox=\"0 0 " + coordinate(width) + ' ' + coordinate(height) + "\">\n<title>" +
          escape(title) + "</title>\n";
  element("rect", {{"width", width}, {"height", height}, {"fill", "#ffffff"}});
}

void Svg::open(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const Attribute& each : attributes) {
    out_ += ' ';
    out_ += each.name;
    out_ += "=\"" + each.value + '"';
  }
}

void Svg::element(std::string_view name, Attributes attributes) {
  open(name, attributes);
  out_ += "/>\n";
}

void Svg::element(std::string_view name, Attributes attributes, std::string_view tooltip) {
  open(name, attributes);
  out_ += "><title>" + escape(tooltip) + "</title></";
  out_ += name;
  out_ += ">\n";
}

void Svg::text(double x, double y, std::string_view content, const Type& type) {
  constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
  open("text", {{"x", x},
                {"y", y},
                {"font-size", type.size},
                {"fill", type.colour},
                {"text-anchor", kAnchors[static_cast<std::size_t>(type.anchor)]},
                {"font-weight", type.bold ? "600" : "400"}});
  out_ += '>' + escape(content) + "</text>\n";
}

std::string Svg::finish() && {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace spillway::simulate

#include "cache/rules/selecting.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "http/field/ascii.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kMostSorted = 16;  // elements of a longer list keep their order

// Works in place: nothing becomes longer.
void tidy(std::string& text, std::size_t from) {
  const auto is_separator = [](char c) { return c == ',' || c == ';'; };
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t to = from;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (is_separator(c)) {
      while (to > from && is_blank(text[to - 1])) --to;
    }
    const bool is_first = to == from || is_separator(text[to - 1]);
    const bool is_empty = c == ',' && (to == from || text[to - 1] == ',');
    if ((is_first && is_blank(c)) || is_empty) continue;
    text[to++] = http::to_lower(c);
  }
  while (to > from && (is_blank(text[to - 1]) || text[to - 1] == ',')) --to;
  text.resize(to);
}

void sort_elements(std::string& text, std::size_t from) {
  std::array<std::string, kMostSorted> elements;
  std::size_t count = 0;
  for (std::size_t at = from; at < text.size();) {
    if (count == elements.size()) return;
    const std::size_t end = std::min(text.find(',', at), text.size());
    elements[count++] = text.substr(at, end - at);
    at = end + 1;
  }
  const std::span all(elements.data(), count);
  if (std::is_sorted(all.begin(), all.end())) return;
  std::sort(all.begin(), all.end());
  text.resize(from);
  for (const std::string& element : all) {
    if (text.size() > from) text += ',';
    text += element;
  }
}

}  // namespace

void normalise(std::string_view name, std::string& text, std::size_t from) {
  const bool is_encoding = http::iequals(name, "Accept-Encoding");
  if (!is_encoding && !http::iequals(name, "Accept-Language")) return;
  tidy(text, from);
  if (is_encoding) sort_elements(text, from);
}

}  // namespace spillway::cache

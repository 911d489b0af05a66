#include "http/field/query.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/field/ascii.hpp"

namespace spillway::http {

namespace {

constexpr std::size_t kShownName = 64;  // bytes of a parameter's name

// The parts before and after the first `separator`; the second is empty without a separator.
std::pair<std::string_view, std::string_view> split_at(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

}  // namespace

std::variant<Parameters, std::string> read_query(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const auto [part, rest] = split_at(query, '&');
    query = rest;
    if (part.empty()) continue;
    const auto [its_name, its_value] = split_at(part, '=');
    const auto name = percent_decoded(its_name);
    const auto value = percent_decoded(its_value);
    if (!name || !value) return "the query is not percent-encoded";
    const bool is_known = std::any_of(parameters.begin(), parameters.end(),
                                      [&](const Parameter& each) { return each.name == *name; });
    if (is_known) return "\"" + name->substr(0, kShownName) + "\" is given twice";
    parameters.push_back({*name, *value});
  }
  return parameters;
}

std::string percent_encoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_alpha(c) || is_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

}  // namespace spillway::http

#include "fuzz/path_reference.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <tuple>

namespace spillway::fuzz {
namespace {

// One character of a path and whether it was escaped.
struct Character {
  char value;
  bool escaped;
};

std::vector<Character> unescape(std::string_view text) {
  const auto hexadecimal = [&](std::size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  std::vector<Character> out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && hexadecimal(i + 1) && hexadecimal(i + 2)) {
      const std::string digits(text.substr(i + 1, 2));
      out.push_back({static_cast<char>(std::stoi(digits, nullptr, 16)), true});
      i += 2;
    } else {
      out.push_back({text[i], false});
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    path.remove_prefix(1);
    out.emplace_back(path.substr(0, path.find('/')));
    path.remove_prefix(out.back().size());
  }
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

void add(std::vector<std::string>& segments, const std::string& segment) {
  if (segment.empty() || segment == ".") return;
  if (segment != "..") {
    segments.push_back(segment);
  } else if (!segments.empty()) {
    segments.pop_back();
  }
}

std::string_view without_query(std::string_view text) {
  return text.substr(0, text.find_first_of("?#"));
}

// How well each segment of the pattern fits, the best first; nothing when it does not.
std::string fit(const std::vector<std::string>& wanted, const std::vector<std::string>& path) {
  const bool below = !wanted.empty() && wanted.back() == "**";
  const std::size_t length = wanted.size() - (below ? 1 : 0);
  if (length > path.size() || (!below && length < path.size())) return {};
  std::string grades;
  for (std::size_t i = 0; i < length; ++i) {
    if (wanted[i] != "*" && wanted[i] != path[i]) return {};
    grades += wanted[i] == "*" ? '2' : '1';
  }
  return grades + (below ? '3' : '1');
}

}  // namespace

std::string first_reading(std::string_view path_and_query) {
  std::vector<std::string> written;  // what stands between slashes, dot segments resolved
  for (const std::string& segment : split("/" + std::string(without_query(path_and_query))))
    add(written, segment);
  std::string out;
  for (const std::string& segment : written) {
    out += '/';
    for (const Character& c : unescape(segment)) {
      const bool separator = c.escaped && (c.value == '/' || c.value == '\\');
      out += separator ? (c.value == '/' ? "%2F" : "%5C") : std::string(1, c.value);
    }
  }
  return out.empty() ? "/" : out;
}

RouteReference::RouteReference(const std::vector<config::Route>& routes) : routes_(routes) {
  for (const config::Route& route : routes) patterns_.push_back(split(route.match.path));
}

std::size_t RouteReference::route_of(std::string_view method, std::string_view host,
                                     std::string_view text) const {
  const std::vector<std::string> path = split(text);
  using Grade = std::tuple<std::string, bool, bool, std::size_t>;
  Grade best{"9", true, true, routes_.size() - 1};
  for (std::size_t i = 0; i + 1 < routes_.size(); ++i) {
    const config::Match& match = routes_[i].match;
    const bool fits_method =
        match.methods.empty() ||
        std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
    if (!fits_method || (!match.host.empty() && match.host != host)) continue;
    const std::string grades = fit(patterns_[i], path);
    if (grades.empty()) continue;
    best = std::min(best, Grade{grades, match.host.empty(), match.methods.empty(), i});
  }
  return std::get<3>(best);
}

}  // namespace spillway::fuzz

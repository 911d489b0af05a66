#include "bench/overload/configuration.hpp"

#include <stdexcept>

namespace spillway::bench {
namespace {

constexpr std::string_view kInName = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view kInComments = "NAMES";

}  // namespace

std::string fill_in(std::string_view text, const Values& values) {
  std::string filled;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    const auto end = text.find_first_not_of(kInName, at + 1);
    const bool named = end != std::string_view::npos && text[end] == '@' && end > at + 1;
    const std::string_view name = named ? text.substr(at + 1, end - at - 1) : std::string_view();
    filled += text.substr(0, at);
    if (!named || name == kInComments) {
      filled += '@';
      text.remove_prefix(at + 1);
      continue;
    }
    const auto value = values.find(name);
    if (value == values.end()) throw std::runtime_error("no value for @" + std::string(name) + "@");
    filled += value->second;
    text.remove_prefix(end + 1);
  }
  return filled.append(text);
}

}  // namespace spillway::bench

#include "config/check/findings.hpp"

#include <algorithm>
#include <utility>

namespace spillway::config {

using nlohmann::json;

bool Findings::is_given(std::string_view path) const {
  if (path.find('"') != path.npos) return false;  // member() quotes keys that are not plain words
  std::string pointer(path.substr(1));
  std::replace_if(
      pointer.begin(), pointer.end(), [](char c) { return c == '.' || c == '['; }, '/');
  std::erase(pointer, ']');
  const json::json_pointer at(pointer);
  return root_.contains(at) && !root_.at(at).is_null();
}

void Findings::report(const std::string& path, std::string message, const std::string& depends_on) {
  const auto is_sound = [&](const std::string& field) {
    return std::none_of(problems_.begin(), problems_.end(),
                        [&](const Problem& problem) { return problem.path == field; });
  };
  if (is_sound(path) && is_sound(depends_on)) found_.push_back({path, std::move(message)});
}

void Findings::report_order(const std::string& path, const std::string& value,
                            std::string_view relation, const std::string& other_path,
                            const std::string& other) {
  report(path,
         "found " + value + ", allowed: " + std::string(relation) + ' ' + other_path + " (" +
             other + ")",
         other_path);
}

void Findings::check_order(const std::string& lower_path, std::int64_t lower,
                           const std::string& upper_path, std::int64_t upper) {
  if (lower <= upper) return;
  report_order(lower_path, std::to_string(lower), "up to", upper_path, std::to_string(upper));
}

void Findings::settle() {
  problems_.insert(problems_.end(), found_.begin(), found_.end());
  found_.clear();
}

std::string route_path(std::size_t at, std::size_t count) {
  return at + 1 == count ? "$.default_route" : element("$.routes", at);
}

}  // namespace spillway::config

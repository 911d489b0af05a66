#include "config/problem.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>

namespace spillway::config {
namespace {

constexpr std::size_t kShown = 60;  // characters of a quoted text, names in a list

bool is_word(std::string_view key) {
  return !key.empty() && key.size() <= kShown &&
         std::all_of(key.begin(), key.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '$';
         });
}

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out =
      nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (out.size() > kShown + 2) out = out.substr(0, kShown) + "...\"";
  return out;
}

std::string member(std::string_view path, std::string_view key) {
  std::string out(path);
  return is_word(key) ? out.append(".").append(key) : out.append("[" + shown(key) + "]");
}

std::string element(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::string_view nearest(std::string_view text, std::span<const std::string> candidates) {
  const std::string_view start = text.substr(0, kShown);
  std::string_view best;
  std::size_t best_distance = kShown;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kShown) continue;
    const std::size_t distance = edit_distance(start, candidate);
    if (distance < best_distance && 2 * distance <= std::max(start.size(), candidate.size()) + 1) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view text, std::span<const std::string> candidates) {
  if (candidates.empty()) return {};
  if (const auto near = nearest(text, candidates); !near.empty()) {
    return ": did you mean " + shown(near) + "?";
  }
  std::string out = candidates.size() == 1 ? ": expected " : ": expected one of ";
  for (std::size_t i = 0; i < candidates.size() && i < kShown; ++i) {
    if (i != 0) out += ", ";
    out += shown(candidates[i]);
  }
  if (candidates.size() > kShown) out += ", ...";
  return out;
}

}  // namespace spillway::config

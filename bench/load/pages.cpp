#include "bench/load/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace spillway::load {
namespace {
constexpr std::string_view kPages = "/page/";
constexpr double kSkew = 0.8;
}  // namespace

PageDraw::PageDraw(std::uint32_t pages) {
  cumulative_.reserve(pages);
  double sum = 0;
  for (std::uint32_t page = 1; page <= pages; ++page) {
    cumulative_.push_back(sum += std::pow(page, -kSkew));
  }
}

std::uint32_t PageDraw::draw(Random& random) const {
  const double at = random.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
  return static_cast<std::uint32_t>(found - cumulative_.begin()) + 1;
}

std::string path_of(std::string_view path, std::uint32_t page) {
  return page == 0 ? std::string(path) : fmt::format("{}{}{}", path, kPages, page);
}

bool is_page(std::string_view target) { return target.find(kPages) != std::string_view::npos; }

std::string entity_tag(std::string_view target) {
  return fmt::format("\"{:016x}\"", std::hash<std::string_view>{}(target));
}

bool none_match_names(std::string_view if_none_match, std::string_view tag) {
  return if_none_match == "*" || if_none_match.find(tag) != std::string_view::npos;
}

}  // namespace spillway::load

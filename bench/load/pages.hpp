// Pages: reads whose answers a cache may store, e.g. /search/page/17. Every other
// request is answered for one client alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace spillway::load {

// How popular pages are: the n-th is asked for in proportion to n^-0.8, about as in the traces of
// Breslau, Cao, Fan, Phillips, Shenker, "Web Caching and Zipf-like Distributions: Evidence and
// Implications", INFOCOM 1999 (0.64 to 0.83).
class PageDraw {
 public:
  explicit PageDraw(std::uint32_t pages);  // at least 1

  std::uint32_t draw(Random& random) const;  // 1 to `pages`

 private:
  std::vector<double> cumulative_;
};

// "/search" and page 17: "/search/page/17"; page 0 is none, the path as it is.
std::string path_of(std::string_view path, std::uint32_t page);

bool is_page(std::string_view target);

// A strong entity tag: pages never change while the backend runs.
std::string entity_tag(std::string_view target);

// Whether an If-None-Match value names `tag` or is "*" (RFC 9110, section 13.1.2). Empty: no.
bool none_match_names(std::string_view if_none_match, std::string_view tag);

}  // namespace spillway::load

#include "bench/load/pages.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace spillway;
using namespace spillway::load;

TEST_CASE("pages are drawn in proportion to their rank to the power of minus 0.8") {
  constexpr std::uint32_t kPages = 100;
  constexpr int kDraws = 200000;
  const PageDraw pages(kPages);
  Random random(1);
  std::vector<double> seen(kPages + 1);
  for (int i = 0; i < kDraws; ++i) ++seen.at(pages.draw(random));
  CHECK(seen[0] == 0);
  CHECK(seen[kPages] > 0);
  for (const std::uint32_t page : {2U, 10U, 50U}) {
    CHECK(seen[page] / seen[1] == doctest::Approx(std::pow(page, -0.8)).epsilon(0.1));
  }
}

TEST_CASE("of one page that one is drawn") {
  const PageDraw pages(1);
  Random random(1);
  for (int i = 0; i < 100; ++i) CHECK(pages.draw(random) == 1);
}

TEST_CASE("a path with a page is a page and one without is none") {
  CHECK(path_of("/search", 17) == "/search/page/17");
  CHECK(path_of("/search", 0) == "/search");
  CHECK(is_page(path_of("/export", 1)));
  CHECK_FALSE(is_page(path_of("/export", 0)));
}

TEST_CASE("each page has an entity tag of its own that an If-None-Match can name") {
  const std::string tag = entity_tag("/search/page/1");
  CHECK(tag == entity_tag("/search/page/1"));
  CHECK(tag != entity_tag("/search/page/2"));
  CHECK(tag.front() == '"');
  CHECK(tag.back() == '"');
  CHECK(none_match_names(tag, tag));
  CHECK(none_match_names("W/" + tag, tag));
  CHECK(none_match_names("\"a\", " + tag, tag));
  CHECK(none_match_names("*", tag));
  CHECK_FALSE(none_match_names("\"a\"", tag));
  CHECK_FALSE(none_match_names("", tag));
}

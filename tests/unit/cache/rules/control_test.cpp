#include "cache/rules/control.hpp"

#include <doctest/doctest.h>

#include "cache/rules/storable.hpp"
#include "cache/rules/validity.hpp"
#include "unit/cache/rules/messages.hpp"

using namespace spillway;
using namespace spillway::cache;
using std::chrono::seconds;

namespace {

const config::Cache kTargeted{.targeted = {"Spillway-Test-Cache-Control", "CDN-Cache-Control"}};
constexpr std::string_view kPast = "Thu, 01 Jan 2026 00:00:00 GMT";

// How long a response is fresh, or why it is not stored.
std::string fresh_for(const Lines& lines, const config::Cache& settings = kTargeted) {
  const http::ResponseHead head = response_of(200, lines);
  const Storable stored = storable(request_of("GET"), head, settings, {});
  if (!stored) return std::string(name(stored.why_not));
  const auto lifetime = validity_of(head, settings, std::chrono::sys_seconds{}, {}).lifetime;
  return std::to_string(std::chrono::duration_cast<seconds>(lifetime).count());
}

}  // namespace

TEST_CASE("a targeted field takes the place of Cache-Control and Expires") {
  // RFC 9213 section 2.2
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}}) == "60");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "max-age=5"}}) == "60");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=5"}, {"Cache-Control", "max-age=60"}}) == "5");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "no-store"}}) == "60");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}, {"Expires", kPast}}) == "60");
  CHECK(fresh_for({{"CDN-Cache-Control", "public"}, {"Expires", kPast}}) == "1");
  CHECK(fresh_for({{"CDN-Cache-Control", "no-store"}, {"Cache-Control", "max-age=60"}}) ==
        "no-store");
  CHECK(fresh_for({{"CDN-Cache-Control", "private"}, {"Cache-Control", "public"}}) == "private");
  CHECK(fresh_for({{"CDN-Cache-Control", "no-cache"}, {"Cache-Control", "max-age=60"}}) == "0");
}

TEST_CASE("of several targeted fields the first in the configuration counts if it is valid") {
  const Lines both{{"CDN-Cache-Control", "max-age=1"},
                   {"Spillway-Test-Cache-Control", "max-age=2"}};
  CHECK(fresh_for(both) == "2");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=1"},
                   {"Spillway-Test-Cache-Control", "max-age=\"2\""}}) == "1");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=\"1\""}, {"Cache-Control", "max-age=9"}}) == "9");
}

TEST_CASE("without configuration targeted fields are for other caches") {
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "max-age=5"}}, {}) ==
        "5");
  CHECK(fresh_for({{"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "no-store"}}, {}) ==
        "no-store");
}

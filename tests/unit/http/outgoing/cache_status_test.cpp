#include "http/outgoing/cache_status.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace spillway;
using namespace spillway::http;
using Forward = CacheStatus::Forward;

namespace {

std::string written(const CacheStatus& status) {
  std::array<char, 256> block;
  TextWriter out(block);
  write_cache_status(out, status);
  return std::string(out.text());
}

}  // namespace

TEST_CASE("Cache-Status has the parameters of RFC 9211") {
  CHECK(written({}) == "");
  CHECK(written({.has_cache = true, .hit = true, .ttl = 376}) ==
        "Cache-Status: spillway; hit; ttl=376\r\n");
  CHECK(written({.has_cache = true, .forward = Forward::uri_miss, .stored = true}) ==
        "Cache-Status: spillway; fwd=uri-miss; stored\r\n");
  CHECK(written({.has_cache = true, .forward = Forward::stale, .forward_status = 304}) ==
        "Cache-Status: spillway; fwd=stale; fwd-status=304\r\n");
  CHECK(written({.has_cache = true, .forward = Forward::vary_miss, .collapsed = true}) ==
        "Cache-Status: spillway; fwd=vary-miss; collapsed\r\n");
  CHECK(written({.has_cache = true, .detail = "miss"}) ==
        "Cache-Status: spillway; detail=miss\r\n");
  for (const auto& [forward, word] : {std::pair{Forward::bypass, "bypass"},
                                      {Forward::method, "method"},
                                      {Forward::request, "request"}}) {
    CHECK(written({.has_cache = true, .forward = forward}) ==
          std::string("Cache-Status: spillway; fwd=") + word + "\r\n");
  }
}

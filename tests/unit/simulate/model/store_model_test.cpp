#include "simulate/model/store_model.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;
constexpr TimePoint kStart = TimePoint{} + 1h;
constexpr RouteId kCached{0}, kPlain{1};

std::vector<config::Route> routes(config::Serve serve) {
  std::vector<config::Route> out(2);
  out[0].cache.emplace();
  out[0].cache->serve = serve;
  out[0].cache->ttl = 1000ms;
  out[0].cache->stale = 5000ms;
  return out;
}

}  // namespace

TEST_CASE("what is stored answers while fresh and under overload while stale") {
  StoreModel store(routes(config::Serve::fresh));
  CHECK_FALSE(store.answers(kCached, 7, kStart));
  store.put(kCached, 7, kStart);
  CHECK(store.answers(kCached, 7, kStart + 900ms));
  CHECK_FALSE(store.answers(kCached, 7, kStart + 1100ms));
  CHECK(store.answers_degraded(kCached, 7, kStart + 5900ms));
  CHECK(store.answers_error(kCached, 7, kStart + 5900ms));
  CHECK_FALSE(store.answers_degraded(kCached, 7, kStart + 6100ms));
  CHECK_FALSE(store.answers_degraded(kCached, 8, kStart));
}

TEST_CASE("a cache for overload does not answer in normal operation") {
  StoreModel store(routes(config::Serve::overload));
  store.put(kCached, 7, kStart);
  CHECK_FALSE(store.answers(kCached, 7, kStart));
  CHECK(store.answers_degraded(kCached, 7, kStart));
}

TEST_CASE("nothing is stored without a cache or a key") {
  StoreModel store(routes(config::Serve::fresh));
  store.put(kPlain, 7, kStart);
  store.put(kCached, 0, kStart);
  CHECK_FALSE(store.answers_degraded(kPlain, 7, kStart));
  CHECK_FALSE(store.answers_degraded(kCached, 0, kStart));
}

}  // namespace spillway::simulate

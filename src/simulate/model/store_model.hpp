// The response caches of the routes: the stored answers, by key, and whether they are used.
// Freshness and staleness are those that the proxy's rules give a plain 200 without Cache-Control.
//
// Modelled: fresh answers, stale answers under overload and in place of errors. Not modelled:
// eviction (everything fits), single flights (each miss is sent), refreshes in the
// background.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "cache/rules/serving.hpp"
#include "cache/rules/validity.hpp"
#include "config/config.hpp"

namespace spillway::simulate {

class StoreModel {
 public:
  explicit StoreModel(const std::vector<config::Route>& routes) {
    for (const config::Route& route : routes) {
      Store& store = stores_.emplace_back();
      if (!route.cache) continue;
      store.is_on = true;
      store.serves_fresh = route.cache->serve == config::Serve::fresh;
      store.stale_if_error = route.cache->stale_if_error;
      http::ResponseHead plain;
      plain.status = 200;
      store.validity = cache::validity_of(plain, *route.cache, kAnyDay, Duration{0});
    }
  }

  // Key 0 is never stored.
  void put(RouteId route, std::uint32_t key, TimePoint now) {
    Store& store = stores_[index(route)];
    if (store.is_on && key != 0) store.stored[key] = now;
  }

  // Whether a stored answer is used in any state, before any decision.
  bool answers(RouteId route, std::uint32_t key, TimePoint now) const {
    const Store& store = stores_[index(route)];
    const auto age = age_of(store, key, now);
    const cache::ServingFacts facts{
        .serves_fresh = store.serves_fresh,
        .is_fresh_enough = age && *age < store.validity.lifetime,
        .may_serve_stale = age && *age < store.validity.lifetime + store.validity.stale_for};
    return cache::serving({}, facts) == cache::Serving::fresh;
  }
  // Whether one may be used for a request that a rule degrades.
  bool answers_degraded(RouteId route, std::uint32_t key, TimePoint now) const {
    const Store& store = stores_[index(route)];
    const auto age = age_of(store, key, now);
    return age && *age < store.validity.lifetime + store.validity.stale_for;
  }
  // Whether one may replace a failure of the upstream.
  bool answers_error(RouteId route, std::uint32_t key, TimePoint now) const {
    const Store& store = stores_[index(route)];
    const auto age = age_of(store, key, now);
    return store.stale_if_error && age &&
           *age < store.validity.lifetime + store.validity.stale_on_error;
  }

 private:
  // The result for a configured ttl does not depend on the date.
  static constexpr std::chrono::sys_seconds kAnyDay{std::chrono::seconds(1'700'000'000)};

  struct Store {
    bool is_on = false, serves_fresh = false, stale_if_error = false;
    cache::Validity validity;
    std::unordered_map<std::uint32_t, TimePoint> stored;  // time of storing, by key
  };

  static std::optional<Duration> age_of(const Store& store, std::uint32_t key, TimePoint now) {
    const auto found = store.stored.find(key);
    if (found == store.stored.end()) return std::nullopt;
    return now - found->second;
  }

  std::vector<Store> stores_;  // by route
};

}  // namespace spillway::simulate

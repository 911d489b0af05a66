// Who plays the table: the proxy with a cache, NGINX as one would run it, and two that must fail.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "support/nginx.hpp"
#include "support/proxy_under_test.hpp"
#include "system/caching/origin.hpp"
#include "system/caching/table.hpp"

namespace spillway::caching {

// The proxy with {"cache": {"serve": "fresh"}} on two routes, and a third without a cache.
class CachingProxy {
 public:
  explicit CachingProxy(const Origin& origin);
  Subject caching() const;
  Subject storing_nothing() const;

 private:
  support::ProxyUnderTest proxy_;
};

// NGINX with the proxy_cache of a careful operator at two locations: the whole Host in the key,
// nothing stored for Authorization (it would be), the origin's Date passed on (there is no Age),
// the same lifetime where the origin says none. At a third it is told to heed neither
// Cache-Control nor Expires, Vary or Set-Cookie, whoever asks.
class CachingNginx {
 public:
  explicit CachingNginx(const Origin& origin);
  Subject caching() const;
  Subject storing_everything() const;

 private:
  support::Nginx nginx_;
};

}  // namespace spillway::caching

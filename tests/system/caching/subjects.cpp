#include "system/caching/subjects.hpp"

namespace spillway::caching {

namespace {

// How long both find an answer fresh that does not say so itself: longer than the table takes.
constexpr int kHeuristicSeconds = 60;

nlohmann::json route(std::string_view place, nlohmann::json more) {
  nlohmann::json route = {
      {"name", place}, {"match", {{"path", "/" + std::string(place) + "/**"}}}, {"class", "P0"}};
  route.merge_patch(more);
  return route;
}

nlohmann::json cache(int stale_ms) {
  return {{"cache",
           {{"max_bytes", 16'777'216},
            {"serve", "fresh"},
            {"ttl_ms", kHeuristicSeconds * 1000},
            {"stale_ms", stale_ms}}}};
}

// Failures of the upstream are part of the play: it is not to look overloaded by them.
nlohmann::json settings() {
  return {{"routes",
           {route("as-said", cache(0)), route("by-leave", cache(60'000)),
            route("nothing", nlohmann::json::object())}},
          {"default_route", {{"class", "P0"}}},
          {"overload",
           {{"enter", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}},
            {"exit", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}}}}};
}

std::string http_block(const Origin& origin) {
  return "proxy_cache_path cache levels=1:2 keys_zone=store:4m max_size=64m inactive=10m "
         "use_temp_path=off;\n"
         "upstream origin { server " +
         origin.address() + " max_fails=0; keepalive 8; }\n";
}

std::string server_block() {
  const std::string seconds = std::to_string(kHeuristicSeconds) + "s";
  return R"(
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_pass_header Date;
    proxy_cache store;
    proxy_cache_key $scheme$http_host$request_uri;
    if_modified_since before;
    proxy_cache_lock on;
    proxy_cache_revalidate on;
    proxy_cache_background_update on;
    proxy_cache_bypass $http_authorization;
    proxy_no_cache $http_authorization;
    proxy_cache_valid 200 203 204 300 301 308 404 405 410 414 501 )" +
         seconds + R"(;
    location /as-said/ { proxy_pass http://origin; }
    location /by-leave/ {
      proxy_pass http://origin;
      proxy_cache_use_stale error timeout invalid_header http_500 http_502 http_503 http_504;
    }
    location /everything/ {
      proxy_pass http://origin;
      proxy_cache_key $request_uri;
      proxy_cache_methods GET HEAD POST;
      proxy_ignore_headers Cache-Control Expires Vary Set-Cookie X-Accel-Expires;
      proxy_cache_valid any )" +
         seconds + R"(;
      proxy_cache_bypass "";
      proxy_no_cache "";
    }
  )";
}

}  // namespace

CachingProxy::CachingProxy(const Origin& origin)
    : proxy_(support::configuration({origin.address()}, settings())) {}

Subject CachingProxy::caching() const {
  return {.name = "Spillway", .port = proxy_.port(), .as_said = "as-said", .by_leave = "by-leave"};
}

Subject CachingProxy::storing_nothing() const {
  return {.name = "nothing", .port = proxy_.port(), .as_said = "nothing", .by_leave = "nothing"};
}

CachingNginx::CachingNginx(const Origin& origin) : nginx_(server_block(), http_block(origin)) {}

Subject CachingNginx::caching() const {
  return {.name = "NGINX", .port = nginx_.port(), .as_said = "as-said", .by_leave = "by-leave"};
}

Subject CachingNginx::storing_everything() const {
  return {.name = "everything",
          .port = nginx_.port(),
          .as_said = "everything",
          .by_leave = "everything"};
}

}  // namespace spillway::caching

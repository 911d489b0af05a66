#include "system/wire/proxies.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "support/haproxy.hpp"
#include "support/nginx.hpp"
#include "support/proxy_under_test.hpp"

namespace spillway::wire {

namespace {

using support::Milliseconds;

// Only a failure is waited for so long.
constexpr Milliseconds kOurPatience{5000};
constexpr Milliseconds kTheirPatience{1000};

// How long all find an answer fresh that does not say so itself: longer than the table takes.
constexpr int kHeuristicSeconds = 60;

nlohmann::json cached_route(const std::string& name, int stale_ms) {
  return {{"name", name},
          {"match", {{"path", "/" + name + "/**"}}},
          {"class", "P0"},
          {"cache",
           {{"max_bytes", 16'777'216},
            {"serve", "fresh"},
            {"ttl_ms", kHeuristicSeconds * 1000},
            {"personal", {"Cookie", "X-Api-Key", "X-Wire-Person"}},
            {"vary", {"X-Wire-Variant"}},
            {"targeted", {"CDN-Cache-Control"}},
            {"stale_ms", stale_ms}}}};
}

nlohmann::json upstream(const std::string& name, const Origin& origin, Door door) {
  return {{"name", name}, {"servers", {origin.address(door)}}};
}

nlohmann::json route_below(const std::string& path, const char* its_class, const char* upstream) {
  return {{"name", path.substr(1)},
          {"match", {{"path", path + "/**"}}},
          {"class", its_class},
          {"upstream", upstream}};
}

nlohmann::json settings(const Origin& origin, bool trusting, Caching caching) {
  // Failures of the upstream are part of the cases: it is not to look overloaded by them.
  nlohmann::json settings = {
      {"workers", 1},
      {"upstreams", {upstream("app", origin, Door::main), upstream("low", origin, Door::low)}},
      {"routes", {route_below("/checkout", "P0", "app"), route_below("/export", "P2", "low")}},
      {"limits", {{"body_bytes", kBodyLimit}}},
      {"default_route", {{"class", "P0"}}},
      {"trusted_headers", {{"tenant", "X-Wire-Tenant"}}},
      {"overload",
       {{"enter", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}},
        {"exit", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}}}}};
  if (trusting) settings["trusted_peers"] = {"127.0.0.1"};
  if (caching == Caching::by_the_rules) {
    settings["routes"].push_back(cached_route("fresh", 0));
    settings["routes"].push_back(cached_route("stale", 60'000));
  }
  return settings;
}

std::string nginx_locations(Caching caching) {
  const std::string seconds = std::to_string(kHeuristicSeconds) + "s";
  const std::string cached = caching == Caching::everything ? R"(
      proxy_pass http://backend;
      proxy_cache store;
      proxy_cache_key $request_uri;
      proxy_cache_methods GET HEAD POST;
      proxy_ignore_headers Cache-Control Expires Vary Set-Cookie X-Accel-Expires;
      proxy_cache_valid any )" + seconds
                                                            : R"(
      proxy_pass http://backend;
      if_modified_since before;
      proxy_cache store;
      proxy_cache_key $scheme$http_host$request_uri;
      proxy_cache_lock on;
      proxy_cache_revalidate on;
      proxy_cache_background_update on;
      proxy_cache_bypass $http_authorization;
      proxy_no_cache $http_authorization;
      proxy_cache_valid 200 203 204 300 301 308 404 405 410 414 501 )" +
                                                                  seconds;
  return "location /fresh/ {" + cached + ";}\nlocation /stale/ {" + cached + R"(;
      proxy_cache_use_stale error timeout invalid_header http_500 http_502 http_503 http_504;
    })";
}

// Only in what it says of the client do the two servers of a lane differ.
std::string nginx_server(bool trusting, Caching caching) {
  const std::string forwarding = trusting ? R"(
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $http_x_forwarded_proto;
    proxy_set_header X-Forwarded-Host $http_x_forwarded_host;
    proxy_set_header Forwarded "$http_forwarded, for=$remote_addr;host=\"$host\";proto=http";)"
                                          : R"(
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $host;
    proxy_set_header Forwarded "for=$remote_addr;host=\"$host\";proto=http";)";
  return forwarding + R"(
    server_name a.example;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Proxy-Connection "";
    proxy_set_header Proxy-Authorization "";
    proxy_set_header TE "";
    proxy_set_header Host $host;
    proxy_set_header Via $via;
    proxy_pass_header Date;
    proxy_pass_header Server;
    client_max_body_size 1m;
    location / { proxy_pass http://backend; }
    location /checkout/ { proxy_pass http://backend; }
    location /export/ { proxy_pass http://low; }
  )" + nginx_locations(caching);
}

std::string nginx_http(const Origin& origin) {
  return R"(
  proxy_cache_path cache levels=1:2 keys_zone=store:4m max_size=64m inactive=10m use_temp_path=off;
  map $http_via $via { "" "$server_protocol nginx"; default "$http_via, $server_protocol nginx"; }
  upstream backend { server )" +
         origin.address() + R"( max_fails=0; keepalive 8; }
  upstream low { server )" +
         origin.address(Door::low) + R"( max_fails=0; keepalive 8; }
  )";
}

std::string haproxy_configuration(const std::vector<Lane>& lanes) {
  std::string text = R"(
global
  nbthread 1
  maxconn 200
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
  timeout http-request 5s
  http-reuse safe
)";
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    for (const bool trusting : {false, true}) {
      const std::string number = std::to_string(2 * n + trusting);
      text += "frontend in" + number + "\n  bind 127.0.0.1:{port " + number + "}\n";
      text += R"(  http-request deny deny_status 405 if METH_TRACE
  http-request deny deny_status 405 if METH_CONNECT
  http-request deny deny_status 413 if { req.body_size gt 1048576 }
  http-request del-header Proxy-Connection
  http-request del-header Proxy-Authorization
  http-request add-header Via "%[req.ver] haproxy"
  http-response add-header Via "%[res.ver] haproxy"
  http-request del-header Upgrade
)";
      if (trusting) {
        text +=
            "  option forwardfor\n"
            "  http-request add-header Forwarded \"for=%[src];proto=http\"\n";
      } else {
        text += R"(  http-request set-header X-Forwarded-For "%[src]"
  http-request set-header X-Forwarded-Proto http
  http-request set-header X-Forwarded-Host "%[req.hdr(host)]"
  http-request set-header Forwarded "for=%[src];host=\"%[req.hdr(host)]\";proto=http"
)";
      }
      text += "  use_backend low" + std::to_string(n) + " if { path_beg /export/ }\n";
      text += "  default_backend out" + std::to_string(n) + "\n";
    }
    for (const auto& [name, door] : {std::pair{"out", Door::main}, std::pair{"low", Door::low}}) {
      text += "backend " + std::string(name) + std::to_string(n) + "\n  server one " +
              lanes[n].origin->address(door) + "\n";
    }
  }
  return text;
}

}  // namespace

ProxyUnderTest spillway(std::size_t lanes, Caching caching) {
  ProxyUnderTest proxy{.name = "Spillway",
                       .patience = kOurPatience,
                       .lanes = std::vector<Lane>(lanes),
                       .servers = {}};
  for (Lane& lane : proxy.lanes) {
    const auto port = [&](bool trusting) {
      const auto settings = wire::settings(*lane.origin, trusting, caching);
      return proxy.start<support::ProxyUnderTest>(settings)->port();
    };
    lane.port = port(false);
    lane.trusting_port = port(true);
  }
  return proxy;
}

ProxyUnderTest nginx(std::size_t lanes, Caching caching) {
  ProxyUnderTest proxy{.name = "NGINX",
                       .patience = kTheirPatience,
                       .lanes = std::vector<Lane>(lanes),
                       .servers = {}};
  for (Lane& lane : proxy.lanes) {
    const auto port = [&](bool trusting) {
      const std::string server = nginx_server(trusting, caching);
      return proxy.start<support::Nginx>(server, nginx_http(*lane.origin))->port();
    };
    lane.port = port(false);
    lane.trusting_port = port(true);
  }
  return proxy;
}

ProxyUnderTest haproxy(std::size_t lanes) {
  ProxyUnderTest proxy{.name = "HAProxy",
                       .patience = kTheirPatience,
                       .lanes = std::vector<Lane>(lanes),
                       .servers = {}};
  const auto server = proxy.start<support::HAProxy>(haproxy_configuration(proxy.lanes));
  for (std::size_t n = 0; n < lanes; ++n) {
    proxy.lanes[n].port = server->port(2 * n);
    proxy.lanes[n].trusting_port = server->port(2 * n + 1);
  }
  return proxy;
}

}  // namespace spillway::wire

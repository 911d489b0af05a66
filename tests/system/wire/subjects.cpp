#include "system/wire/subjects.hpp"

namespace spillway::conformance {

namespace {

using support::Milliseconds;

// Only a failure is waited for so long.
constexpr Milliseconds kOurPatience{5000};
constexpr Milliseconds kTheirPatience{1000};

nlohmann::json settings(bool trusting) {
  // Failures of the upstream are part of the play: it is not to look overloaded by them.
  nlohmann::json settings = {
      {"workers", 1},
      {"limits", {{"body_bytes", kBodyLimit}}},
      {"default_route", {{"class", "P0"}}},
      {"overload",
       {{"enter", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}},
        {"exit", {{"error_rate", nullptr}, {"event_loop_lag_ms", nullptr}}}}}};
  if (trusting) settings["trusted_peers"] = {"127.0.0.1"};
  return settings;
}

// Only in what it says of the client do the two servers of a lane differ.
std::string nginx_server(bool trusting) {
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
  )";
}

std::string nginx_http(const Backend& backend) {
  return R"(
  map $http_via $via { "" "$server_protocol nginx"; default "$http_via, $server_protocol nginx"; }
  upstream backend { server )" +
         backend.address() + R"( max_fails=0; keepalive 8; }
  )";
}

std::string haproxy_configuration(const std::deque<Backend>& backends) {
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
  for (std::size_t n = 0; n < backends.size(); ++n) {
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
      text += "  default_backend out" + std::to_string(n) + "\n";
    }
    text += "backend out" + std::to_string(n) + "\n  server one " + backends[n].address() + "\n";
  }
  return text;
}

}  // namespace

Spillways::Spillways(std::size_t lanes) {
  for (std::size_t n = 0; n < lanes; ++n) {
    const std::string address = backends_.emplace_back().address();
    proxies_.emplace_back(support::configuration({address}, settings(false)));
    proxies_.emplace_back(support::configuration({address}, settings(true)));
  }
}

Subject Spillways::subject() {
  Subject subject{.name = "Spillway", .lanes = {}, .patience = kOurPatience};
  for (std::size_t n = 0; n < backends_.size(); ++n) {
    subject.lanes.push_back({.port = proxies_[2 * n].port(),
                             .trusting_port = proxies_[2 * n + 1].port(),
                             .backend = &backends_[n]});
  }
  return subject;
}

Nginxes::Nginxes(std::size_t lanes) {
  for (std::size_t n = 0; n < lanes; ++n) {
    const std::string http = nginx_http(backends_.emplace_back());
    proxies_.emplace_back(nginx_server(false), http);
    proxies_.emplace_back(nginx_server(true), http);
  }
}

Subject Nginxes::subject() {
  Subject subject{.name = "NGINX", .lanes = {}, .patience = kTheirPatience};
  for (std::size_t n = 0; n < backends_.size(); ++n) {
    subject.lanes.push_back({.port = proxies_[2 * n].port(),
                             .trusting_port = proxies_[2 * n + 1].port(),
                             .backend = &backends_[n]});
  }
  return subject;
}

HAProxies::HAProxies(std::size_t lanes) {
  for (std::size_t n = 0; n < lanes; ++n) backends_.emplace_back();
  proxy_.emplace(haproxy_configuration(backends_));
}

Subject HAProxies::subject() {
  Subject subject{.name = "HAProxy", .lanes = {}, .patience = kTheirPatience};
  for (std::size_t n = 0; n < backends_.size(); ++n) {
    subject.lanes.push_back({.port = proxy_->port(2 * n),
                             .trusting_port = proxy_->port(2 * n + 1),
                             .backend = &backends_[n]});
  }
  return subject;
}

}  // namespace spillway::conformance

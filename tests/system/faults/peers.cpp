#include "system/faults/peers.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/haproxy.hpp"
#include "support/nginx.hpp"

namespace spillway::faults {

using nlohmann::json;

namespace {

// A listening socket, a channel to the master, and what a moment needs.
constexpr std::size_t kOfItsOwn = 4;
constexpr std::size_t kUnbounded = 1024;
// Where a time is that of the head, too: on a busy machine it is not there at once.
constexpr int kLeastHeadMs = 1000;

[[noreturn]] void has_no_words(const std::string& key) {
  throw std::invalid_argument("NGINX and HAProxy have no words for " + key);
}

void take_upstream(const std::string& key, const json& value, Wanted& wanted) {
  if (key == "response_timeout_ms") {
    wanted.response_ms = value;
  } else if (key == "connect_timeout_ms") {
    wanted.connect_ms = value;
  } else if (key == "ejection" || key == "circuit_breaker") {
    wanted.failures = value.at("consecutive_failures");
  } else if (key == "retries") {
    wanted.repeats = true;
  } else {
    has_no_words(key);
  }
}

void take_limit(const std::string& key, const json& value, Wanted& wanted) {
  if (key == "connections") {
    wanted.clients = value;
  } else if (key == "tunnels") {
    wanted.tunnels = value;
  } else if (key == "header_timeout_ms") {
    wanted.head_ms = value;
  } else if (key == "idle_timeout_ms") {
    wanted.silence_ms = value;
  } else if (key == "tunnel_idle_timeout_ms") {
    wanted.tunnel_ms = value;
  } else if (key != "min_rate_bytes") {  // they have none
    has_no_words(key);
  }
}

// They have no classes and judge no overload, and trust no peer; each has one worker.
bool is_ours_alone(const std::string& key) {
  return key == "overload" || key == "log" || key == "workers" || key.starts_with("trusted_");
}

int silence_after_head(const Wanted& wanted) {
  return std::clamp(wanted.tunnel_ms, kLeastHeadMs, std::max(kLeastHeadMs, wanted.response_ms));
}

// With others beside it a server is left out, as Spillway does unless it is told otherwise.
std::size_t failures(const Wanted& wanted, const Servers& servers) {
  return wanted.failures == 0 && servers.app.size() > 1 ? 5 : wanted.failures;
}

std::string ms(int milliseconds) { return std::to_string(milliseconds) + "ms"; }

std::string nginx_upstream(const Wanted& wanted, const Servers& servers) {
  const std::size_t most = failures(wanted, servers);
  std::string text = "upstream app {\n";
  // Once more at the same server only if it is there once more.
  for (int times = wanted.repeats ? 2 : 1; times > 0; --times) {
    for (const std::string& server : servers.app) {
      text += "  server " + server + " max_fails=" + std::to_string(most) + " fail_timeout=10s";
      if (wanted.slots > 0) {
        text += " max_conns=" + std::to_string(wanted.slots + kInsteadOfQueue);
      }
      text += ";\n";
    }
  }
  return text + "  keepalive 64;\n}\nupstream sound {\n  server " + servers.sound +
         " max_fails=0;\n  keepalive 64;\n}\n";
}

std::string haproxy_server(const Wanted& wanted, std::size_t failures, const std::string& address) {
  std::string text = " " + address;
  if (wanted.slots > 0) text += " maxconn " + std::to_string(wanted.slots);
  if (failures > 0) {
    text += " check inter 10s observe layer7 error-limit " + std::to_string(failures) +
            " on-error mark-down";
  }
  return text + "\n";
}

// Told in MiB; a response takes half of it at most.
std::string haproxy_cache(std::size_t bytes) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::size_t size = (bytes + kMiB - 1) / kMiB;
  return "cache store\n  max-age 600\n  total-max-size " + std::to_string(size) +
         "\n  max-object-size " + std::to_string(size * kMiB / 2) + "\n";
}

}  // namespace

std::string name_of(Peer peer) { return peer == Peer::nginx ? "NGINX" : "HAProxy"; }

Wanted wanted(const json& changes) {
  Wanted all;
  for (const auto& [key, value] : changes.items()) {
    if (key == "app") {
      for (const auto& [name, of_it] : value.items()) take_upstream(name, of_it, all);
    } else if (key == "limits") {
      for (const auto& [name, of_it] : value.items()) take_limit(name, of_it, all);
    } else if (key == "dispatch") {
      all.slots = value.at("concurrency");
    } else if (key == "classes") {
      all.wait_ms = value.at(0).value("max_wait_ms", all.wait_ms);
    } else if (key == "default_route") {
      all.reads_bodies_first = value.value("request_buffering", "on") != "off";
      all.stored = value.value("/cache/max_bytes"_json_pointer, all.stored);
    } else if (!is_ours_alone(key)) {
      has_no_words(key);
    }
  }
  return all;
}

// A time of NGINX covers a server's head, its body and a tunnel alike.
std::string nginx_server(const Wanted& wanted) {
  const std::string response = ms(wanted.response_ms);
  std::string text = R"(
    server_name faults;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Connection $connection_upgrade;
    proxy_set_header Upgrade $http_upgrade;
    proxy_connect_timeout )" +
                     ms(wanted.connect_ms) + ";\n    proxy_read_timeout " + response +
                     ";\n    proxy_send_timeout " + response + ";\n    client_header_timeout " +
                     ms(wanted.head_ms) + ";\n    client_body_timeout " + ms(wanted.silence_ms) +
                     ";\n    send_timeout " + ms(wanted.silence_ms) + ";\n";
  text += "    proxy_next_upstream error timeout invalid_header";
  if (wanted.failures > 0) text += " http_500 http_502 http_503 http_504";
  text += ";\n";
  if (!wanted.reads_bodies_first) text += "    proxy_request_buffering off;\n";
  if (wanted.finishes_abandoned) text += "    proxy_ignore_client_abort on;\n";
  if (wanted.stored > 0) text += "    proxy_cache store;\n    proxy_cache_lock on;\n";
  // A prefix, so that /tunnel-closes and /events-close are among them.
  std::string of_tunnels = "proxy_read_timeout " + ms(silence_after_head(wanted));
  if (wanted.tunnels > 0) of_tunnels += "; limit_conn tunnels " + std::to_string(wanted.tunnels);
  return text + "    location / { proxy_pass http://app; }\n" +
         "    location /sound/ { proxy_pass http://sound; }\n" +
         "    location /tunnel { proxy_pass http://app; " + of_tunnels + "; }\n" +
         "    location /events { proxy_pass http://app; proxy_buffering off; " + of_tunnels +
         "; }\n";
}

std::string nginx_http(const Wanted& wanted, const Servers& servers) {
  std::string text = R"(
  map $http_upgrade $connection_upgrade { "" ""; default upgrade; }
  limit_conn_zone $server_name zone=tunnels:1m;
)";
  if (wanted.stored > 0) {
    text += "  proxy_cache_path cache keys_zone=store:1m use_temp_path=off max_size=" +
            std::to_string(wanted.stored) + ";\n";
  }
  return text + nginx_upstream(wanted, servers);
}

// A client that is served takes two.
std::size_t nginx_connections(const Wanted& wanted) {
  return wanted.clients == 0 ? kUnbounded : 2 * wanted.clients + kOfItsOwn;
}

std::string haproxy_configuration(const Wanted& wanted, const Servers& servers) {
  std::string text = "global\n  nbthread 1\n  fd-hard-limit 4000\n";
  if (wanted.clients > 0) text += "  maxconn " + std::to_string(wanted.clients) + "\n";
  text += "defaults\n  mode http\n  timeout connect " + ms(wanted.connect_ms) +
          "\n  timeout client " + ms(wanted.silence_ms) + "\n  timeout server " +
          ms(wanted.response_ms) + "\n  timeout http-request " + ms(wanted.head_ms) +
          "\n  timeout http-keep-alive " + ms(wanted.silence_ms) + "\n  timeout queue " +
          ms(wanted.wait_ms) + "\n  timeout tunnel " + ms(wanted.tunnel_ms) + R"(
  http-reuse safe
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response
)";
  // Without it what is asked for a client that has left goes on.
  if (!wanted.finishes_abandoned) text += "  option abortonclose\n";
  // A body, as far as it fits its buffer, before a slot is taken.
  if (wanted.reads_bodies_first) text += "  option http-buffer-request\n";
  if (wanted.stored > 0) text += haproxy_cache(wanted.stored);
  text += R"(frontend in
  bind 127.0.0.1:{port 0}
  use_backend sound if { path_beg /sound/ }
  use_backend tunnels if { path_beg /tunnel }
  use_backend events if { path_beg /events }
  default_backend app
backend sound
  server one )" +
          servers.sound + "\n";
  for (const std::string name : {"app", "tunnels", "events"}) {
    text += "backend " + name + "\n  http-request disable-l7-retry if METH_POST\n";
    if (name == "app" && wanted.stored > 0)
      text += "  http-request cache-use store\n  http-response cache-store store\n";
    if (name == "tunnels" && wanted.tunnels > 0) {
      text += "  http-request deny deny_status 503 if { be_conn(tunnels) gt " +
              std::to_string(wanted.tunnels) + " }\n";
    }
    if (name == "events") {
      text += "  timeout server " + ms(silence_after_head(wanted)) + "\n";
    }
    for (std::size_t n = 0; n < servers.app.size(); ++n) {
      text += "  server s" + std::to_string(n) +
              haproxy_server(wanted, failures(wanted, servers), servers.app[n]);
    }
  }
  return text;
}

PeerProcess::PeerProcess(Peer peer, const Wanted& wanted, const Servers& servers,
                         const std::vector<std::string>& under) {
  if (peer == Peer::nginx) {
    const auto nginx = std::make_shared<support::Nginx>(
        nginx_server(wanted), nginx_http(wanted, servers),
        support::Nginx::Process{.connections = nginx_connections(wanted), .under = under});
    port_ = nginx->port();
    process_ = nginx;
  } else {
    const auto haproxy =
        std::make_shared<support::HAProxy>(haproxy_configuration(wanted, servers), under);
    port_ = haproxy->port();
    process_ = haproxy;
  }
}

}  // namespace spillway::faults

// The operator's door: /metrics, /healthz, /readyz, /state, /config and a small index; and two
// pages that change something, POST /reload and POST /cache/purge.
//
// Runs on a thread of its own, so that a large scrape delays neither a request nor a tick. At
// most 64 connections; a head, a body or an answer that takes longer than 5 s closes its
// connection. With a token configured every page but /healthz and /readyz asks for it
// (RFC 6750). Without one (only possible on a loopback address) a request must name a loopback
// host: a web page that the operator visits could otherwise read these pages through a DNS name
// that it rebinds to 127.0.0.1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "proxy/admin/admin_purge.hpp"
#include "proxy/generation/reload_result.hpp"

namespace spillway::proxy {

// The pages. Called on the admin thread, one at a time.
struct AdminSource {
  std::function<std::string()> metrics;  // Prometheus text
  std::function<std::string()> state;    // JSON
  std::function<std::string()> config;   // JSON
  // Why no traffic should be sent here, e.g. "draining"; empty when ready.
  std::function<std::string()> not_ready;
  // Forgets stored answers.
  std::function<cache::PurgeResult(const cache::PurgeRequest&)> purge;
  // Reads the configuration again; calls back when that is done, on a thread of its own.
  std::function<void(ReloadDone)> reload;
};

class AdminServer {
 public:
  AdminServer(const config::Admin& config, AdminSource source);
  ~AdminServer();  // stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Binds and serves. Throws std::runtime_error naming the address when it cannot bind.
  void start();
  // The port it listens on, which the system chose if the configured one is 0; 0 before start()
  // and after stop().
  std::uint16_t port() const;
  // Closes every connection and joins the thread; it cannot be started again. Does nothing the
  // second time.
  void stop();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace spillway::proxy

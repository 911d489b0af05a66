// The admin HTTP server: /metrics, /healthz, /readyz, /state, /config and an index page, the
// operator's pages of deferred requests (admin_jobs.hpp) and waiting rooms (admin_rooms.hpp), and
// two more endpoints that change something, POST /reload and POST /cache/purge.
//
// Runs on its own thread, so that a large scrape delays neither a request nor a control tick. At
// most 64 connections: another one replaces the one that has been silent longest, or else the one
// that has been taking a response longest; a request head, body or response that takes longer than
// 5 s closes its connection. With a token configured every page but /healthz and /readyz requires
// it (RFC 6750). Without one (only possible on a loopback address) the Host must be a loopback
// name: this prevents DNS rebinding, by which a web page in the operator's browser could read these
// pages.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "proxy/admin/admin_jobs.hpp"
#include "proxy/admin/admin_purge.hpp"
#include "proxy/admin/admin_rooms.hpp"
#include "proxy/generation/reload_result.hpp"

namespace spillway::proxy {

// The content of the pages. All functions are called on the admin thread.
struct AdminSource {
  std::function<std::string()> metrics;  // Prometheus text
  std::function<std::string()> state;    // JSON
  std::function<std::string()> config;   // JSON
  // Why no traffic should be sent here, e.g. "draining"; empty if ready. While it is suspended
  // other pages are served.
  std::function<boost::asio::awaitable<std::string>()> not_ready_reason;
  // Removes responses from the caches.
  std::function<cache::PurgeResult(const cache::PurgeRequest&)> purge;
  // Starts a reload; when that has ended the callback runs, on another thread.
  std::function<void(ReloadDone)> reload = {};
  JobsSource jobs = {};
  RoomsSource rooms = {};
};

class AdminServer {
 public:
  AdminServer(const config::Admin& config, AdminSource source);
  ~AdminServer();  // stops
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Binds and serves. Throws std::runtime_error naming the address if it cannot bind.
  void start();
  // The same; false, without effect, if a draining Spillway has the port: try again.
  bool start_unless_drained();
  // The listening port, chosen by the system if the configured one is 0. 0 before start() and after
  // stop().
  std::uint16_t port() const;
  // Closes every connection and joins the thread. Final; idempotent.
  void stop();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace spillway::proxy

// What a server is made of, and what is done with all of it: the operator's pages
// (server_pages.cpp) and reloads (server_reload.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "observe/log.hpp"
#include "proxy/admin/admin.hpp"
#include "proxy/admin/readiness.hpp"
#include "proxy/generation/generations.hpp"
#include "proxy/server/control.hpp"
#include "proxy/server/reloader.hpp"
#include "proxy/server/server.hpp"
#include "proxy/worker/listener.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

// From the system's entropy.
std::uint64_t random_seed();

struct Server::Parts {
  Parts(ReadConfiguration first, LoadConfig load);

  std::uint32_t connections() const;
  std::vector<const Heartbeat*> heartbeats() const;
  std::string where() const;

  // server_pages.cpp
  AdminSource pages();
  observe::Snapshot snapshot(Generation& generation, bool with_dead_letters);
  boost::asio::awaitable<std::string> not_ready_reason();
  std::string metrics_page();
  std::string state_page();
  cache::PurgeResult purge(const cache::PurgeRequest& what);

  // server_reload.cpp
  // On the reloader's thread.
  ReloadResult reload(ReadConfiguration wanted);
  // Nothing has changed when it returns a problem.
  config::Problems try_reload(ReadConfiguration wanted);
  // Requests that have had `drain_timeout_ms` since their configuration was replaced make room for
  // another one.
  bool end_oldest();
  // Returns once every worker begins its requests with it.
  void put_into_effect(const std::shared_ptr<Generation>& next) noexcept;
  std::uint32_t most_connections(const config::Config& config);

  const Lineage lineage;
  Generations generations;
  observe::Log log;
  TunnelPermits tunnel_places;
  AcceptResume room;
  std::vector<std::unique_ptr<Worker>> workers;
  std::optional<Control> control;
  std::optional<Listener> listener;
  Readiness readiness;  // the admin thread's
  std::optional<AdminServer> admin;
  std::vector<std::thread> threads;
  TimePoint started = Clock::now();
  std::atomic<bool> draining{false};
  std::atomic<bool> listening{false};
  std::atomic<std::uint32_t> connections_limit{0};  // in force
  std::mutex reloads_mutex;
  observe::Reloads reloads;
  std::function<void(const ReloadResult&)> on_reload;  // on the reloader's thread; may be empty
  Reloader reloader;                                   // its thread uses all of the above
};

}  // namespace spillway::proxy

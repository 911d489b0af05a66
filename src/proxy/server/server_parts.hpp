// The parts of a server, and the tasks that involve all of them: admin pages (server_pages.cpp),
// reloads (server_reload.cpp), signals (server_signals.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observe/log/log.hpp"
#include "observe/snapshot/phase.hpp"
#include "proxy/admin/admin.hpp"
#include "proxy/admin/readiness.hpp"
#include "proxy/generation/generations.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/server/control.hpp"
#include "proxy/server/reload_record.hpp"
#include "proxy/server/reloader.hpp"
#include "proxy/server/server.hpp"
#include "proxy/server/worker_pool.hpp"
#include "proxy/waiting/place_keeper.hpp"
#include "proxy/waiting/room_keeper.hpp"
#include "proxy/worker/listener.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

// systemd's StateDirectory if store.url names no file, else the directory of the configuration
// file.
std::filesystem::path store_directory(const config::Store& store);
// Why a store cannot be in this file, and how the operator can change that: no
// permission, no such directory, a read-only file system. `wanted_by`: the key that needs
// the store.
std::optional<config::Problem> unwritable(const std::filesystem::path& file,
                                          const std::string& wanted_by);

struct Server::Parts {
  Parts(ReadConfiguration first, config::LoadConfig load);

  std::vector<const Heartbeat*> heartbeats();
  // One line for the operator: the addresses listened on.
  std::string listening_status() const;

  // False: another Spillway, which drains, has the port.
  bool start_admin();
  // Logs effects of a valid configuration that its operator may not expect.
  void warn_of(const config::Config& config);

  // server_jobs.cpp
  std::unique_ptr<JobQueue> make_jobs(const config::Config& config);
  // Throws BadConfiguration: the store cannot be opened, and only the operator can change that.
  void start_jobs();
  void hand_over(jobs::LeasedJob job, store::Epoch epoch);

  // server_places.cpp
  // nullopt, or why places cannot be kept.
  std::optional<config::Problem> keep_places(const Generation& generation);
  // Logs that their store fails.
  void tell_of_rooms(const store::Failure& failure);
  // Without waiting rooms: deletes the places that earlier configurations have left.
  void forget_places(const config::Store& store);
  SecretReply replace_secret(waiting::Replacement how, const std::string& client);

  // server_pages.cpp
  AdminSource pages();
  observe::Snapshot snapshot(Generation& generation, bool with_dead_letters);
  boost::asio::awaitable<std::string> not_ready_reason();
  std::string metrics_page();
  std::string state_page();
  cache::PurgeResult purge(const cache::PurgeRequest& what);
  JobsSource jobs_source();

  // server_reload.cpp
  // All on the reload thread.
  ReloadResult reload(ReadConfiguration wanted);
  // Empty: done. Otherwise nothing has changed.
  config::Problems try_reload(ReadConfiguration wanted);
  // Ends the requests of the oldest former generation, if it was replaced at least
  // `drain_timeout_ms` ago. True: the number of former generations is below the limit.
  bool end_oldest_generation();
  // Returns once new requests use `next` on every worker.
  void activate(const std::shared_ptr<Generation>& next) noexcept;
  std::uint32_t max_client_connections(const config::Config& config);

  const ProcessContext process;
  Generations generations;
  observe::Log log;
  PlaceKeeper places;
  RoomKeeper shared_rooms;
  std::optional<RoomCompactor> gone_rooms;  // in a database, while this process has none itself
  std::unique_ptr<JobQueue> jobs;           // null: there is no store for jobs
  WorkerPool workers;
  std::optional<Control> control;
  std::optional<Listener> listener;
  Readiness readiness;  // admin thread only
  std::optional<AdminServer> admin;
  TimePoint started = Clock::now();
  std::atomic<observe::Phase> phase{observe::Phase::serving};
  std::atomic<bool> listening{false};
  std::atomic<std::uint32_t> connections_limit{0};  // in effect
  Worker::CutOff cut_off;                           // set by stop()
  ReloadRecord reloads;
  std::function<void(const ReloadResult&)> on_reload;  // on the reload thread; may be empty
  Reloader reloader;                                   // last: its thread uses all of the above
};

}  // namespace spillway::proxy

// Reloads: activating a new configuration.
#include <exception>
#include <thread>
#include <utility>

#include "config/file/reload.hpp"
#include "proxy/net/descriptor_limit.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {
// How long to wait until ended requests have released their generation.
constexpr Milliseconds kEndTimeout{2000};

// A route with another name has another waiting room: all tickets and sessions would be lost.
config::Problems emptied_rooms(const Generation& former, const config::Config& wanted) {
  config::Problems problems;
  for (const auto& [running, next] : config::renamed_waiting_rooms(former.config, wanted)) {
    const waiting::Counts counts = former.waiting_rooms[running]->counts(Clock::now());
    const std::size_t visitors =
        counts.waiting + counts.processing + counts.active + counts.provisional;
    if (visitors == 0) continue;
    problems.push_back(
        {"$.routes[" + std::to_string(next) + "].name",
         "found \"" + wanted.routes[next].name + "\" in place of \"" +
             former.config.routes[running].name + "\", whose waiting room has visitors (" +
             std::to_string(visitors) +
             "): it goes by the name of its route, and they would lose their places. Keep the "
             "name, or end the waiting room first"});
  }
  return problems;
}
}  // namespace

ReloadResult Server::Parts::reload(ReadConfiguration wanted) {
  ReloadResult result;
  result.problems = try_reload(std::move(wanted));
  result.generation = generations.current()->number;
  for (const config::Problem& each : result.problems) log.reload_failed(each.path, each.message);
  if (result.problems.empty()) log.reloaded(result.generation);
  reloads.add(result);
  if (on_reload) on_reload(result);
  return result;
}

config::Problems Server::Parts::try_reload(ReadConfiguration wanted) {
  if (phase.load() != observe::Phase::serving)
    return {{"$", "draining: the configuration stays as it is"}};
  if (!wanted.config) return wanted.problems;
  if (generations.collect() >= Generations::kMaxFormer && !end_oldest_generation()) {
    return {{"$", "running requests still keep to " + std::to_string(Generations::kMaxFormer) +
                      " earlier configurations: try again when some of them have ended"}};
  }
  const std::shared_ptr<Generation> former = generations.current();
  auto problems = config::needs_restart(former->config, *wanted.config, jobs != nullptr);
  if (problems.empty()) problems = emptied_rooms(*former, *wanted.config);
  if (!problems.empty()) return problems;
  try {
    const auto next = std::make_shared<Generation>(std::move(*wanted.config),
                                                   std::move(wanted.endpoints), process, &*former);
    if (auto problem = keep_places(*next)) return {std::move(*problem)};
    warn_of(next->config);
    activate(next);
  } catch (const std::exception& error) {
    return {{"$", error.what()}};
  }
  return {};
}

bool Server::Parts::end_oldest_generation() {
  const Milliseconds grace = generations.current()->config.limits.drain_timeout;
  const Generation* const oldest = generations.oldest(Clock::now() - grace);
  if (oldest == nullptr) return false;
  log.message(observe::Level::warn,
              "too many earlier configurations are in use: ending what runs under the oldest");
  for (const auto& worker : workers.all()) worker->end_requests_of(*oldest);
  for (const TimePoint until = Clock::now() + kEndTimeout;
       Clock::now() < until && !reloader.is_stopping();) {
    if (generations.collect() < Generations::kMaxFormer) return true;
    std::this_thread::sleep_for(Milliseconds{10});
  }
  return false;
}

// noexcept: a failure halfway would leave two configurations in effect.
void Server::Parts::activate(const std::shared_ptr<Generation>& next) noexcept {
  generations.replace(next);
  log.set_level(next->config.log);
  workers.first().loop().post(
      [this, max = max_client_connections(next->config)] { listener->set_most_connections(max); });
  const auto pending = std::make_shared<std::atomic<std::size_t>>(workers.size());
  control->replace(next, [pending] {
    if (pending->fetch_sub(1) == 1) pending->notify_all();
  });
  for (std::size_t count = pending->load(); count != 0; count = pending->load())
    pending->wait(count);
  // Last: a worker that does not know a route yet would treat its jobs as those of a gone route.
  if (jobs) jobs->configure(job_routes(next));
}

std::uint32_t Server::Parts::max_client_connections(const config::Config& config) {
  const Affordable within = affordable(config, workers.size());
  const std::uint32_t max = within.connections;
  workers.set_most_temp_files(within.temp_files);
  workers.set_most_tunnels(within.tunnels);
  if (max < config.limits.connections) {
    log.message(observe::Level::warn,
                "the limit of open files is " + std::to_string(within.open_files) +
                    ", enough for " + std::to_string(max) + " client connection" +
                    (max == 1 ? "" : "s") + " at a time; the " +
                    std::to_string(config.limits.connections) + " of limits.connections need " +
                    std::to_string(open_files_for_all(config, workers.size())) +
                    ": raise the limit (ulimit -Hn, or LimitNOFILE of systemd) or lower the key");
  }
  connections_limit.store(max);
  return max;
}

}  // namespace spillway::proxy

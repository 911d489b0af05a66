// How a new configuration takes the place of the one in effect.
#include <exception>
#include <thread>
#include <utility>

#include "config/reload.hpp"
#include "proxy/net/descriptor_limit.hpp"
#include "proxy/server/server_parts.hpp"

namespace spillway::proxy {

namespace {
// Requests that are told to end do so at once, but for the time a connection takes to close.
constexpr Milliseconds kEnding{2000};
}  // namespace

ReloadResult Server::Parts::reload(ReadConfiguration wanted) {
  ReloadResult result;
  result.problems = try_reload(std::move(wanted));
  result.generation = generations.current()->number;
  for (const config::Problem& each : result.problems) log.reload_failed(each.path, each.message);
  if (result.problems.empty()) log.reloaded(result.generation);
  {
    const std::lock_guard lock(reloads_mutex);
    ++(result.problems.empty() ? reloads.done : reloads.failed);
    reloads.problems.clear();
    for (const config::Problem& each : result.problems)
      reloads.problems.push_back(each.path + ": " + each.message);
  }
  if (on_reload) on_reload(result);
  return result;
}

config::Problems Server::Parts::try_reload(ReadConfiguration wanted) {
  if (draining.load()) return {{"$", "draining: the configuration stays as it is"}};
  if (!wanted.config) return wanted.problems;
  if (generations.collect() >= Generations::kMostFormer && !end_oldest()) {
    return {{"$", "running requests still keep to " + std::to_string(Generations::kMostFormer) +
                      " earlier configurations: try again when some of them have ended"}};
  }
  const std::shared_ptr<Generation> former = generations.current();
  if (auto problems = config::needs_restart(former->config, *wanted.config); !problems.empty())
    return problems;
  try {
    const auto next = std::make_shared<Generation>(std::move(*wanted.config),
                                                   std::move(wanted.endpoints), lineage, &*former);
    put_into_effect(next);
  } catch (const std::exception& error) {
    return {{"$", error.what()}};
  }
  return {};
}

bool Server::Parts::end_oldest() {
  const Milliseconds grace = generations.current()->config.limits.drain_timeout;
  const Generation* const oldest = generations.oldest(Clock::now() - grace);
  if (oldest == nullptr) return false;
  log.message(observe::Level::warn,
              "too many earlier configurations are in use: ending what runs under the oldest");
  for (const auto& worker : workers) worker->end_requests_of(*oldest);
  for (const TimePoint until = Clock::now() + kEnding;
       Clock::now() < until && !reloader.is_stopping();) {
    if (generations.collect() < Generations::kMostFormer) return true;
    std::this_thread::sleep_for(Milliseconds{10});
  }
  return false;
}

// From here on nothing fails any more, or it would be in effect in part.
void Server::Parts::put_into_effect(const std::shared_ptr<Generation>& next) noexcept {
  generations.replace(next);
  log.set_level(next->config.log);
  workers.front()->loop().post(
      [this, most = most_connections(next->config)] { listener->set_most_connections(most); });
  const auto left = std::make_shared<std::atomic<std::size_t>>(workers.size());
  control->replace(next, [left] {
    if (left->fetch_sub(1) == 1) left->notify_all();
  });
  for (std::size_t now = left->load(); now != 0; now = left->load()) left->wait(now);
}

std::uint32_t Server::Parts::most_connections(const config::Config& config) {
  const std::uint32_t most = affordable_connections(config, workers.size());
  if (most < config.limits.connections) {
    log.message(observe::Level::warn, "the limit of open files leaves room for " +
                                          std::to_string(most) +
                                          " client connections, fewer than limits.connections");
  }
  connections_limit.store(most);
  return most;
}

}  // namespace spillway::proxy

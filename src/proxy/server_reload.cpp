// How a new configuration takes the place of the one in effect.
#include <boost/asio/post.hpp>
#include <exception>

#include "config/reload.hpp"
#include "proxy/descriptor_limit.hpp"
#include "proxy/server_parts.hpp"

namespace spillway::proxy {

ReloadResult Server::Parts::reload() {
  ReloadResult result;
  result.problems = try_reload();
  result.generation = generations.current()->number;
  for (const config::Problem& each : result.problems) log.reload_failed(each.path, each.message);
  if (result.problems.empty()) log.reloaded(result.generation);
  const std::lock_guard lock(reloads_mutex);
  ++(result.problems.empty() ? reloads.done : reloads.failed);
  reloads.problems.clear();
  for (const config::Problem& each : result.problems)
    reloads.problems.push_back(each.path + ": " + each.message);
  return result;
}

config::Problems Server::Parts::try_reload() {
  if (draining.load()) return {{"$", "draining: the configuration stays as it is"}};
  if (!load) return {{"$", "there is no file to read again"}};
  if (generations.collect() >= Generations::kMostFormer) {
    return {{"$", "running requests still keep to " + std::to_string(Generations::kMostFormer) +
                      " earlier configurations: try again when some of them have ended"}};
  }
  const std::shared_ptr<Generation> former = generations.current();
  config::LoadResult loaded = load();
  if (!loaded.config) return loaded.problems;
  if (auto problems = config::needs_restart(former->config, *loaded.config); !problems.empty())
    return problems;
  try {
    put_into_effect(std::make_shared<Generation>(std::move(*loaded.config), lineage, &*former));
  } catch (const std::exception& error) {
    return {{"$", error.what()}};
  }
  return {};
}

void Server::Parts::put_into_effect(const std::shared_ptr<Generation>& next) {
  generations.replace(next);
  log.set_level(next->config.log);
  asio::post(workers.front()->io(), [this, most = most_connections(next->config)] {
    listener->set_most_connections(most);
  });
  const auto left = std::make_shared<std::atomic<std::size_t>>(workers.size());
  control->replace(next, [left] {
    if (left->fetch_sub(1) == 1) left->notify_all();
  });
  for (std::size_t now = left->load(); now != 0; now = left->load()) left->wait(now);
  check_health_of(next);
  health_checks->start();
}

void Server::Parts::check_health_of(const std::shared_ptr<Generation>& generation) {
  health_checks.reset();
  health_checks = std::make_unique<HealthChecks>(generation, workers, log, random_seed());
}

std::uint32_t Server::Parts::most_connections(const config::Config& config) {
  const std::uint32_t most = affordable_connections(config, workers.size());
  if (most < config.limits.connections) {
    log.message(observe::Level::warn, "the limit of open files leaves room for " +
                                          std::to_string(most) +
                                          " client connections, fewer than limits.connections");
  }
  return most;
}

}  // namespace spillway::proxy

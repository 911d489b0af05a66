#include "proxy/net/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "config/tunnels.hpp"
#include "proxy/net/connection_budget.hpp"
#include "proxy/net/pipe.hpp"

namespace spillway::proxy {

namespace {
// Listeners, timers, logs, admin connections.
constexpr std::uint64_t kOwn = 128;
// For an event loop: two epoll descriptors, a timerfd, an eventfd.
constexpr std::uint64_t kPerWorker = 8;
// Of the rest, one in this many is for temporary files.
constexpr std::uint64_t kTempFiles = 8;

// If all of that does not fit: the process's own descriptors, without admin connections.
constexpr std::uint64_t kOwnOfFew = 32;
// Then one client per this many descriptors: its own, one at its upstream, a temporary file, and
// one for pipes, idle connections at the upstream, health checks and admin connections.
constexpr std::uint64_t kPerClientOfFew = 4;

// Larger than any limit of open files that a system allows.
constexpr std::uint64_t kMostOpenFiles = std::uint64_t{1} << 31;

std::uint64_t clients_of_few(std::uint64_t open_files, std::size_t workers) {
  const std::uint64_t own = kOwnOfFew + kPerWorker * workers;
  return open_files > own ? (open_files - own) / kPerClientOfFew : 0;
}
}  // namespace

Affordable affordable_within(std::uint64_t open_files, const config::Config& config,
                             std::size_t workers) {
  std::uint64_t needed = kOwn + (kPerWorker + 2 * PipePool::kMost) * workers;
  bool is_shadow = false;
  std::uint64_t found = 0;  // sum of the maxima of limits that are found automatically
  for (const auto& upstream : config.upstreams) {
    const config::Concurrency& slots = upstream.dispatch.concurrency;
    (slots.search ? found : needed) += slots;
    // After a reload, for both generations.
    needed += 2 * spare_connections(workers, upstream.servers.size());
    if (upstream.health_check) needed += upstream.servers.size();
    is_shadow = is_shadow || upstream.overload.mode == config::Mode::shadow;
  }
  std::uint64_t left = open_files > needed ? open_files - needed : 0;
  left -= std::min(found, left / 2);
  const std::uint64_t of_few = clients_of_few(open_files, workers);
  std::uint64_t files = config.limits.temp_file_bytes == 0
                            ? 0
                            : std::min<std::uint64_t>(left / kTempFiles, config.limits.connections);
  left -= files;
  // A client with a tunnel, or one that shadow mode forwards, holds an upstream connection too. At
  // most one of two clients has a tunnel: three descriptors. Rounded up.
  const std::uint64_t in_pairs =
      is_shadow ? left / 2 : std::min<std::uint64_t>(config.limits.tunnels, (left + 2) / 3);
  const auto connections = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::max(left - in_pairs, of_few), 1, config.limits.connections));
  // In this case each client has a descriptor for a temporary file.
  if (of_few > left - in_pairs && config.limits.temp_file_bytes != 0) files = connections;
  return {.connections = connections,
          .temp_files = static_cast<std::uint32_t>(files),
          .tunnels = config::tunnels_among(connections, config.limits)};
}

std::uint64_t open_files_for_all(const config::Config& config, std::size_t workers) {
  std::uint64_t too_few = 0;
  std::uint64_t enough = kMostOpenFiles;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    const bool is_enough =
        affordable_within(middle, config, workers).connections == config.limits.connections;
    (is_enough ? enough : too_few) = middle;
  }
  return enough;
}

Affordable affordable(const config::Config& config, std::size_t workers) {
  const std::uint32_t most = config.limits.connections;
  const Affordable all{most, most, config::tunnels_among(most, config.limits), {}};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return all;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur == RLIM_INFINITY) return all;
  Affordable within = affordable_within(files.rlim_cur, config, workers);
  within.open_files = files.rlim_cur;
  return within;
}

}  // namespace spillway::proxy

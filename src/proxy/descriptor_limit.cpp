#include "proxy/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace spillway::proxy {

namespace {
// Listeners, event loops, timers, logs, admin connections.
constexpr std::uint64_t kOwn = 128;
}  // namespace

std::uint32_t affordable_connections(const config::Config& config, std::size_t workers) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return config.limits.connections;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur == RLIM_INFINITY) return config.limits.connections;

  std::uint64_t needed = kOwn + 8 * workers;
  bool is_shadow = false;
  for (const auto& upstream : config.upstreams) {
    needed += upstream.dispatch.concurrency + workers;
    is_shadow = is_shadow || upstream.overload.mode == config::Mode::shadow;
  }
  std::uint64_t left = files.rlim_cur > needed ? files.rlim_cur - needed : 1;
  // A tunnel brings an upstream connection; in shadow mode any client may.
  const std::uint64_t upstream_ones =
      is_shadow ? left / 2 : std::min<std::uint64_t>(left / 2, config.limits.tunnels);
  left = std::max<std::uint64_t>(left - upstream_ones, 1);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, config.limits.connections));
}

}  // namespace spillway::proxy

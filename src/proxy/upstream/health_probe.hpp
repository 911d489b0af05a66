// One active health check of one server: connects and, if the configuration names a path, sends a
// GET for it and compares the status of the response with the configured range. Without a path an
// established connection is enough. Uses the server's address in use, or else the next one that
// does not refuse.
//
// A probe opens its own connection, outside the keep-alive pools and the connection budget, and
// reads at most kMaxProbeBytes. The response head has to pass the same parser as relayed responses;
// interim (1xx) responses are skipped.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "observe/snapshot/health_check_result.hpp"
#include "proxy/net/endpoint.hpp"

namespace spillway::proxy {

inline constexpr std::size_t kMaxProbeBytes = 4096;

// The request of a probe; empty if the check has no path.
std::string probe_request(const config::HealthCheck& check, const Endpoint& server);

// The result, given all bytes received so far; nullopt: the head is not complete yet. Pure.
std::optional<observe::HealthCheckReport> judge_probe_response(std::string_view received,
                                                               const config::HealthCheck& check);

struct Probed {
  observe::HealthCheckReport report;
  std::size_t address = 0;  // index of the server's address that was tried last
  bool is_connected = false;
};

// Runs one probe within `check.timeout`, beginning with that address of the server. The first two
// arguments must outlive it. Cancelling it (terminal cancellation) closes the connection at once;
// the result is then meaningless.
boost::asio::awaitable<Probed> probe_health(const config::HealthCheck& check,
                                            const Endpoint& server, std::size_t address = 0);

}  // namespace spillway::proxy

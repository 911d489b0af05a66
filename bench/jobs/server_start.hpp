// Waiting for a server that was started for comparison.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/overload/peer_process.hpp"

namespace spillway::job_bench {

// Until it accepts connections on a port of loopback. Throws std::runtime_error with the end of its
// log if it ends before or takes two minutes, which RabbitMQ can on a busy machine.
inline void await_server(bench::PeerProcess& server, std::uint16_t port, const std::string& name,
                         const std::string& log) {
  constexpr auto kNever = [] { return false; };
  for (int tries = 0; tries < 12 && server.running(); ++tries) {  // of ten seconds
    if (server.await_port(port, kNever)) return;
  }
  throw std::runtime_error(name + " does not start: " + bench::end_of_file(log, 2000));
}

}  // namespace spillway::job_bench

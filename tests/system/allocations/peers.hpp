// The proxy's peers, in processes of their own so that only the proxy's allocations are counted:
// this very program, started with other arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/child_process.hpp"

namespace spillway::allocations {

// Does not return in a process that was started by one of the commands below: it serves or asks
// until it is killed.
void play_peer(int argc, char** argv);

// A backend that takes `service` for each request. Its output is its port, on a line.
std::vector<std::string> backend_command(support::Milliseconds service);
// Clients that ask again as soon as they are answered, each on a connection of its own, one for
// each request.
std::vector<std::string> clients_command(std::uint16_t port,
                                         const std::vector<std::string>& requests);

}  // namespace spillway::allocations

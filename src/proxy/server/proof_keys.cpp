#include "proxy/server/proof_keys.hpp"

#include <filesystem>
#include <utility>

#include "config/findings.hpp"
#include "store/key.hpp"

namespace spillway::proxy {

void read_proof_keys(ReadConfiguration& read) {
  if (!read.config) return;
  std::vector<config::Route>& routes = read.config->routes;
  for (std::size_t n = 0; n < routes.size(); ++n) {
    auto& room = routes[n].waiting_room;
    if (!room || room->proof.key_file.empty()) continue;
    const auto file = std::filesystem::path(read.config->store.directory) / room->proof.key_file;
    store::KeyFile found = store::read_key_file(file);
    if (found.key)
      room->proof.key = found.key->bytes;
    else
      read.problems.push_back(
          {config::route_path(n, routes.size()) + ".waiting_room.proof_key_file",
           std::move(found.problem)});
  }
  if (!read.problems.empty()) read.config.reset();
}

}  // namespace spillway::proxy

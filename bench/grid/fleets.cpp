// Which fleets are played.
#include <cmath>

#include <fmt/format.h>

#include "bench/grid/fleet.hpp"

namespace spillway::grid {
namespace {

Cell backend(std::uint32_t slots, int service, double load) {
  return {.slots = slots, .service = Milliseconds{service}, .sigma = 0.5, .load = load};
}

void add(std::uint32_t proxies, const Cell& cell, std::vector<Fleet>& out) {
  out.push_back({.name = fmt::format("n{}-p{}-s{}-l{:g}", proxies, cell.slots, cell.service.count(),
                                     cell.load),
                 .cell = cell,
                 .proxies = std::vector<Presence>(proxies)});
}

// A quarter of the proxies joins at 35 s, another leaves at 50 s.
Fleet changing(std::uint32_t proxies, const Cell& cell) {
  Fleet out{.name = fmt::format("n{}-p{}-s{}-l{:g}-changing", proxies, cell.slots,
                                cell.service.count(), cell.load),
            .cell = cell,
            .proxies = std::vector<Presence>(proxies)};
  for (std::uint32_t i = 0; i < (proxies + 3) / 4; ++i) {
    out.proxies[i].until = 50;
    out.proxies[proxies - 1 - i].from = 35;
  }
  return out;
}

Fleet several(std::vector<simulate::Server> servers, double load, bool loses) {
  Cell cell = backend(0, 20, load);
  double equal = 0;  // slots at normal speed
  for (const simulate::Server& server : servers) equal += server.slots * server.speed;
  cell.slots = static_cast<std::uint32_t>(std::lround(equal));
  return {.name = fmt::format("servers-{}-p{}-l{:g}{}", servers.size(), cell.slots, load,
                              loses ? "-lost" : ""),
          .cell = cell,
          .proxies = std::vector<Presence>(1),
          .servers = std::move(servers),
          .loses_server = loses};
}

}  // namespace

std::vector<Fleet> fleets(bool quick) {
  std::vector<Fleet> out;
  for (const std::uint32_t proxies : {1, 4, 16, 64}) {
    for (const std::uint32_t slots : {64, 256}) {
      for (const double load : {1.2, 2.0, 4.0}) {
        if (quick && (load != 2 || (slots == 256) != (proxies == 64))) continue;
        add(proxies, backend(slots, 20, load), out);
      }
    }
    if (!quick) add(proxies, backend(256, 200, 2), out);
  }
  out.push_back(out[out.size() / 2]);
  out.back().name += "-in-phase";
  out.back().in_phase = true;
  add(4, backend(64, 20, 2), out);
  out.back().name += "-clocks-off";
  out.back().clocks_apart = Milliseconds{30};
  add(4, backend(64, 20, 2), out);
  out.back().name += "-clocks-apart";
  out.back().clocks_apart = Milliseconds{730};
  out.push_back(changing(4, backend(64, 20, 2)));
  out.push_back(changing(16, backend(256, 20, 2)));
  if (!quick) out.push_back(changing(64, backend(256, 20, 2)));
  for (const double load : {0.7, 2.0}) {
    for (const bool loses : {false, true}) {
      out.push_back(several({{16, 1}, {16, 0.5}}, load, loses));
      out.push_back(several({{32, 0.5}, {8, 2}, {16, 1}}, load, loses));
      out.push_back(several({{32, 1}, {8, 1}, {16, 1}}, load, loses));
      out.push_back(several({{16, 1}, {16, 1}}, load, loses));
    }
  }
  return out;
}

}  // namespace spillway::grid

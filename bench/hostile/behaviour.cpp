#include "bench/hostile/behaviour.hpp"

#include <algorithm>
#include <array>

namespace spillway::hostile {
namespace {

constexpr int kTinyWindow = 2048;
constexpr double kAtOnce = 900;  // connections a second: all of them within the warm-up

// So few that their requests leave workers of the backend idle: only the house is full.
constexpr std::size_t kPlaces = 100;

constexpr std::array<Manner, 23> kManners{{
    {"silent", "connects and says nothing", make_silent, 900, kAtOnce},
    {"slow-head", "a field of a head each second (slowloris)", make_slow_head, 900, kAtOnce},
    {"slow-body", "a byte of a body of P0 each second", make_slow_body, 900, kAtOnce},
    {"expect-silence", "asks for 100 (Continue) of P0, then sends nothing", make_expect_silence,
     900, kAtOnce},
    {"slow-upload", "66 KB of a body at once, the rest at 300 B/s", make_slow_upload, 200, kAtOnce},
    {"grpc-upload", "the same as a gRPC call, whose body is to go on as it comes", make_grpc_upload,
     200, kAtOnce},
    {"slow-reader", "reads a response of 4 MiB at 300 B/s through a tiny window", make_slow_reader,
     150, kAtOnce, kTinyWindow},
    {"slow-reader-many", "the same with six times the connections", make_slow_reader, 900, kAtOnce,
     kTinyWindow},
    {"slow-reader-huge", "reads a response of 160 MiB at 300 B/s through a tiny window",
     make_huge_reader, 100, kAtOnce, kTinyWindow},
    {"slow-reader-p0", "the same of a path of P0", make_p0_reader, 100, kAtOnce, kTinyWindow},
    {"paying-reader", "reads the response of 160 MiB at 20 kB/s", make_paying_reader, 24, kAtOnce,
     kTinyWindow},
    {"tunnel-hoarder", "switches to a tunnel and says nothing", make_tunnel_hoarder, 900, kAtOnce},
    {"events-hoarder", "opens a stream of events and keeps it", make_events_hoarder, 900, kAtOnce},
    {"keep-alive-hoarder", "fills a small house, with a request each half second",
     make_keep_alive_hoarder, kPlaces, kAtOnce, 0, kPlaces},
    {"pipeliner", "pipelines requests and never reads", make_pipeliner, 300, kAtOnce, kTinyWindow},
    {"churn", "connects and resets at once", make_churn, 50, 1500},
    {"abort", "sends a request and resets after 20 ms", make_abort, 100, 1000},
    {"half-closed", "sends a request and closes its sending side", make_half_closed, 300, 1000},
    {"events-leaver", "opens a stream of events and resets after 20 ms", make_events_leaver, 100,
     1000},
    {"tiny-deadline", "requests with a deadline of 15 ms, one after the other", make_tiny_deadline,
     100, kAtOnce},
    {"cache-buster", "GETs of P1 with a query that never comes twice", make_cache_buster, 100,
     kAtOnce},
    {"path-climber", "POSTs to P2 by paths that begin as those of P0", make_path_climber, 100,
     kAtOnce},
    {"error-maker", "GETs of what answers 500, one after the other", make_error_maker, 100,
     kAtOnce},
}};

}  // namespace

std::span<const Manner> manners() { return kManners; }

const Manner* find_manner(std::string_view name) {
  const auto found = std::find_if(kManners.begin(), kManners.end(),
                                  [&](const Manner& one) { return one.name == name; });
  return found == kManners.end() ? nullptr : &*found;
}

}  // namespace spillway::hostile

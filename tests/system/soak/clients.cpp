#include "system/soak/clients.hpp"

#include <array>

namespace spillway::soak {

namespace {

constexpr std::array kKinds{
    Kind{"keep_alive", 8, keep_alive},
    Kind{"post", 6, post},
    Kind{"pipeline", 3, pipeline},
    Kind{"fresh_connection", 3, fresh_connection},
    Kind{"slow_reader", 3, slow_reader},
    Kind{"slow_sender", 3, slow_sender},
    Kind{"slowloris", 2, slowloris},
    Kind{"dawdle", 2, dawdle},
    Kind{"leave", 6, leave},
    Kind{"smuggle", 2, smuggle},
    Kind{"garble", 2, garble},
    Kind{"huge_head", 2, huge_head},
    Kind{"cached", 4, cached},
    Kind{"stale", 2, stale},
    Kind{"busy", 16, busy},
    Kind{"pair", 4, pair},
    Kind{"faulty", 4, faulty},
    Kind{"tunnel", 4, tunnel},
    Kind{"event_stream", 2, event_stream},
    Kind{"scrape", 1, scrape},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace spillway::soak

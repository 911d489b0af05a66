// One run of the spike on the screen: sends the load, prints the live table.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bench/load/arrivals.hpp"
#include "bench/load/endpoint.hpp"
#include "live_table.hpp"
#include "tally.hpp"

namespace spillway::demo {

struct Scene {
  load::Endpoint target;
  std::optional<load::Endpoint> admin;  // of the proxy; its state appears in the table
  std::span<const load::Phase> phases;
  std::span<const load::Arrival> arrivals;
};

// Returns when every request has ended. On a terminal the row of the current second is
// redrawn as it fills; otherwise one line is printed each second.
Tally play(const Scene& scene, std::string_view title, const Paint& paint);

}  // namespace spillway::demo

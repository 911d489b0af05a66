// Spillway's /metrics, for figures that only the proxy itself knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spillway::bench {

// The page of the admin listener on a loopback port; nullopt: none within two seconds.
std::optional<std::string> metrics_page(std::uint16_t admin_port);

// The sum over all series of a counter in Prometheus' text format; nullopt without a series.
std::optional<std::uint64_t> sum_of(std::string_view page, std::string_view counter);

}  // namespace spillway::bench

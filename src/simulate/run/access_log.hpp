// The arrivals of an access log as traffic: the lines of Spillway's own log
// (docs/observability.md), replayed with their time, route, class and tenant.
//
// An access line is written when its request ends: it arrived `duration_ms` earlier. Lines of other
// events and of routes to other upstreams are skipped. For each route the mean time between the
// grant of a slot and the end of the response is learned, so that its cost is that of the log.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "simulate/scenario/scenario_file.hpp"

namespace spillway::simulate {

// The most that is read: about 50 MB.
inline constexpr std::size_t kMostLoggedArrivals = 2'000'000;
inline constexpr std::size_t kLongestLogLine = 65'536;
inline constexpr std::size_t kMostPipedBytes = 64 * 1024 * 1024;  // if it is not a regular file

// Reads to the end, line by line. Stops at the first line that it cannot parse: the problem's path
// is FILE:LINE. The backend has the told slots or those of the `concurrency`, and the told or the
// learned service time; a told rate is a problem.
ScenarioResult read_access_log(std::istream& in, std::string_view file_name,
                               const config::Config& config, const Told& told);

// A file that cannot be opened is a problem, and so is a pipe that delivers nothing for 2 s.
ScenarioResult open_access_log(const std::string& path, const config::Config& config,
                               const Told& told);

}  // namespace spillway::simulate

// The arrivals of an access log as traffic: the lines of Spillway's own log
// (docs/observability.md), played with their time, route, class and tenant.
//
// An access line is written when its request ends: it arrived `duration_ms` before. Lines of other
// events and of routes of other upstreams are left out. Of each route the mean time between the
// grant of a slot and the end of the response is learned, so that routes cost what they cost there.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "simulate/scenario/scenario_file.hpp"

namespace spillway::simulate {

// What is read at most: about 50 MB.
inline constexpr std::size_t kMostLoggedArrivals = 2'000'000;
inline constexpr std::size_t kLongestLogLine = 65'536;
inline constexpr std::size_t kMostPipedBytes = 64 * 1024 * 1024;  // of what is no regular file

// Reads to the end, line by line. Stops at the first line that it does not understand: the
// problem's path is FILE:LINE. The backend has the told slots or those of the `concurrency`, and
// the told or the learned service time; a told rate is a problem.
ScenarioResult read_access_log(std::istream& in, std::string_view file_name,
                               const config::Config& config, const Told& told);

// A file that cannot be opened is a problem, and so is a pipe of which nothing comes for 2 s.
ScenarioResult open_access_log(const std::string& path, const config::Config& config,
                               const Told& told);

}  // namespace spillway::simulate

// How a report names who was measured, and what colour each has in its plots.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway::report {

// "HAProxy" for "haproxy", "HAProxy, tuned" for "haproxy-tuned"; what is unknown as it is.
std::string display_name(std::string_view contender);

// Of Okabe and Ito, "Color Universal Design", 2008; Spillway's is its own, others recur from the
// seventh on.
std::string_view colour_of(std::string_view contender, std::size_t position);

}  // namespace spillway::report

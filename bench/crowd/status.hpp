// What a visitor is told: the status of its place, the page's state, its cookie. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "bench/load/connection.hpp"

namespace spillway::crowd {

struct Status {
  std::string state;                              // "waiting", "processing", ...
  std::optional<Milliseconds> claim_remaining{};  // if it is called
};

// The JSON of GET …/ticket; nullopt if it has no state.
std::optional<Status> parse_status(std::string_view json);

// The state that a waiting page shows; empty if the page is none.
std::string_view state_of_page(std::string_view html);

// Retry-After in seconds; nullopt: there is none.
std::optional<Duration> told_to_wait(const load::Response& response);

// The value that the response gives the cookie of that name, empty if it takes it away; nullopt: it
// says nothing of it.
std::optional<std::string> cookie_of(const load::Response& response, std::string_view name);

}  // namespace spillway::crowd

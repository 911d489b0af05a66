// What receives the load: a backend or a proxy, as the command line names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/load/endpoint.hpp"

namespace spillway::demo {

struct Contender {
  std::string title;
  load::Endpoint target;
  std::optional<load::Endpoint> admin;  // of a proxy, for the live table
};

// Reads TITLE=URL or TITLE=URL,ADMIN; nullopt for anything else, an empty title, or an address that
// is not this machine's own: the spike never runs against another.
std::optional<Contender> parse_contender(std::string_view text);

}  // namespace spillway::demo

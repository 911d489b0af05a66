// A contender's configuration with a small limit of connections, for attacks that fill it: the
// shipped ones are beyond the means of an attack (usage.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "bench/overload/contender.hpp"

namespace spillway::hostile {

// NGINX's worker_connections count those to the backend and its own, too: it has so many more.
inline constexpr std::size_t kBesideClients = 40;

// `text`: of the program, filled in. Throws std::invalid_argument if it has no place for a limit.
std::string with_places(bench::Program program, std::string text, std::size_t clients);

}  // namespace spillway::hostile

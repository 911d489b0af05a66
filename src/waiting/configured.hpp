// The terms that a route's configuration gives its waiting room.
#pragma once

#include "config/waiting_room.hpp"
#include "waiting/terms.hpp"

namespace spillway::waiting {

Terms terms_of(const config::WaitingRoom& settings);

}  // namespace spillway::waiting

// Made-up recordings, plausible and the same each time, for what presents runs.
#pragma once

#include <cstddef>

#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

// A minute in which three classes ask twice of what a backend can do from second 10 to 50. With
// shedding the queue stays short and the highest class is served; without, the queue grows until
// nearly all answers come too late.
Recording made_up_spike(bool shedding);

// `classes` classes for `seconds` seconds, overloaded every other ten seconds.
Recording made_up_run(std::size_t classes, std::size_t seconds);

}  // namespace spillway::simulate

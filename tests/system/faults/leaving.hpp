// A client that leaves before it has what it came for.
#pragma once

#include <cstddef>
#include <string>

#include "system/faults/asking.hpp"
#include "system/faults/stand.hpp"

namespace spillway::faults {

// How far it comes.
enum class Phase {
  in_head,
  in_small_body,
  in_large_body,
  in_chunk,
  before_continue,  // it waits to be told to send its body
  in_queue,
  awaiting_head,
  at_work,  // of an upstream that notices nothing and answers all the same
  in_answer,
  between_requests,
  in_pipeline,  // the first of three has been answered
};

std::string name_of(Phase phase);

// Comes so far, then closes, resets or half-closes its connection, by its number in turn; a
// half-closed one has to be closed by the proxy. "gone" when all went so; else what did not.
Outcome leave(Stand& stand, Phase phase, std::size_t number);

}  // namespace spillway::faults

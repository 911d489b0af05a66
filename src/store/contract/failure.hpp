// Why a store could not do what it was asked.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::store {

struct Failure {
  enum class Kind : std::uint8_t {
    unavailable,    // cannot be reached, or not now: try again
    full,           // no space left on its disk
    corrupt,        // not a store of ours, or damaged: nothing is written to it
    newer_version,  // written by a later version of Spillway
    in_use,         // by another process
  };
  Kind kind = Kind::unavailable;
  std::string text;  // one sentence for the operator
};

}  // namespace spillway::store

// Why a store could not execute its commands.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::store {

struct Failure {
  enum class Kind : std::uint8_t {
    unavailable,    // cannot be reached, or is not ready: try again
    full,           // no space left on its disk
    corrupt,        // not a Spillway store, or damaged: nothing is written
    newer_version,  // written by a later version of Spillway
    in_use,         // by another process
  };
  Kind kind = Kind::unavailable;
  std::string text;  // one sentence for the operator
};

}  // namespace spillway::store

// What became of one visitor, by its own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "bench/crowd/script.hpp"

namespace spillway::crowd {

// Something at the proxy happened between these two.
struct Span {
  TimePoint from;
  TimePoint to;
};

enum class Fate : std::uint8_t {
  coming,   // has not been answered yet
  waiting,  // in line, or called
  inside,
  left,     // after it was inside
  gone,     // gave up before, or never meant to come
  refused,  // told at the door that it would not be reached in time
  failed    // see Record::failure
};

struct Record {
  Manner manner = Manner::polite;
  Fate fate = Fate::coming;
  std::string failure{};
  std::optional<Span> arrived{};  // first contact
  std::optional<Span> joined{};   // second contact: it has a place
  std::optional<Span> called{};   // its turn came, or it was let in at once
  std::optional<Span> entered{};  // the request with which it came in after that
  bool was_inside = false;
  bool was_late = false;  // it asked so late itself that it may have counted as away
};

}  // namespace spillway::crowd

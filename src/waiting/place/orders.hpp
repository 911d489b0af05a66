// The operator's decisions about a waiting room. They hold until the operator decides otherwise: a
// reload does not change them, nor does a restart where places survive one.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::waiting {

struct Orders {
  bool is_held_open = false;  // visitors have to wait, as for When::always
  bool is_paused = false;     // only the operator calls visitors
  bool has_ended = false;     // no visitor gets a place any more; sessions go on
  std::string message;        // shown to all who wait, UTF-8; empty: the one of the configuration
  std::uint64_t changes = 0;  // how often the operator decided

  bool operator==(const Orders&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.is_held_open, self.is_paused, self.has_ended, self.message, self.changes);
  }
};

// Why no ticket was called.
enum class NotCalled : std::uint8_t {
  nobody_present,  // no waiting ticket has polled lately
  all_away,        // the same, but for reservations
  no_room,         // as many are called already as sessions could begin
  room_ended,
  unknown,  // for one ticket: it does not exist
  called    // the same: it may come in already
};

enum class Moved : std::uint8_t {
  moved,
  unknown,
  called  // its place does not matter any more
};

}  // namespace spillway::waiting

// What the operator has decided about a waiting room. It holds until the operator decides
// otherwise: a reload does not change it, nor does a restart where places survive one.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::waiting {

struct Orders {
  bool is_held_open = false;  // visitors have to wait, as for When::always
  bool is_paused = false;     // nobody is called but by the operator
  bool has_ended = false;     // nobody gets a place any more; sessions go on
  std::string message;        // to all who wait, UTF-8; empty: that of the configuration
  std::uint64_t changes = 0;  // how often the operator decided

  bool operator==(const Orders&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.is_held_open, self.is_paused, self.has_ended, self.message, self.changes);
  }
};

// Why a ticket was not called.
enum class NotCalled : std::uint8_t {
  nobody_present,  // nobody waits who was heard of lately
  all_away,        // likewise, but for reservations
  no_room,         // as many are called already as sessions could begin
  room_ended,
  unknown,  // of one ticket: there is none
  called    // likewise: it may come in already
};

enum class Moved : std::uint8_t {
  moved,
  unknown,
  called  // its place does not matter any more
};

}  // namespace spillway::waiting

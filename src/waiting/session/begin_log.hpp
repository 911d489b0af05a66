// When sessions began, so that no more than `per_minute` begin within any 60 s. Not counted by
// minutes of the clock, which would let in twice as many around the turn of a minute. Exact times,
// at most `per_minute` of them; without a cap only counts per second.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class BeginLog {
 public:
  // 0: no cap. A time that is known only by its second counts as the end of that second.
  explicit BeginLog(std::uint32_t per_minute) : per_minute_(per_minute) {}
  void set_per_minute(std::uint32_t per_minute);

  void add(Time now);
  // How many more may begin at `at`, which may be in the future if none begins until then.
  std::size_t remaining(Time at) const;
  // How many more have begun within 60 s than may, after the cap was lowered.
  std::size_t excess(Time at) const;
  // How many have begun within the last 60 to 61 s.
  std::size_t last_minute(Time now) const;

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.per_minute_, self.times_, self.seconds_);
  }

  struct Second {
    std::int64_t number = -1;
    std::size_t begun = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.number, self.begun);
    }
  };

  std::size_t begun_since(Time time) const;

  std::uint32_t per_minute_;
  std::deque<Time> times_;  // of the last 60 s, if there is a cap
  std::array<Second, 64> seconds_{};
};

}  // namespace spillway::waiting

// When sessions began, so that never more than `per_minute` begin within any 60 s: not a count by
// minutes of the clock, which would let in twice as many around its turn. Exact times, at most
// `per_minute` of them; without a cap only counts by second.
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
  // 0: no cap. What is known only by second counts as at the end of that second.
  explicit BeginLog(std::uint32_t per_minute) : per_minute_(per_minute) {}
  void set_per_minute(std::uint32_t per_minute);

  void add(Time now);
  // How many may begin at `at`, which may lie ahead if nothing begins until then.
  std::size_t remaining(Time at) const;
  // How many more have begun than may within 60 s, since there is a lower cap.
  std::size_t excess(Time at) const;
  // Within the last 60 to 61 s.
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

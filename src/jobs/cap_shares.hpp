// How much one proxy may use of the caps of routes (`concurrency`, `rate`), which apply to all
// proxies on a store together. Pure: the store carries the proxies' messages to each other.
//
// Each proxy holds a part of each cap, and announces it to the others with each renewal of its
// lease. It aims at an equal part, gives up at once any excess not in use, and takes no more than
// the others leave. It uses a new part only after announcing it, and after a later read has shown
// that it is still free. Of two that take at the same time at least the later one sees the other
// (the flag principle: Herlihy and Shavit, The Art of Multiprocessor Programming, 2.4). So all
// together never use more than the cap, whichever joins, ends, or reads late. No lock is held.
//
// A proxy that ended without notice keeps its part until the store has found out.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace spillway::jobs {

// concurrency: in jobs. rate: in 10^-6 jobs per second, so that it can be divided.
enum class CapKind : std::uint8_t { concurrency, rate };
constexpr std::string_view name(CapKind kind) {
  return kind == CapKind::concurrency ? "concurrency" : "rate";
}

struct CapId {
  std::string route;
  CapKind kind = CapKind::concurrency;

  auto operator<=>(const CapId&) const = default;
};

// The part that is announced to the others.
struct CapPart {
  std::int64_t held = 0;  // not available to others
  bool shares = false;    // its proxy counts when the cap is divided

  bool operator==(const CapPart&) const = default;
};
using CapParts = std::map<CapId, CapPart>;

// A share of `cap` among this many. The remainder goes to the first places, from 0 on: a cap below
// the number of proxies leaves the last ones without any.
constexpr std::int64_t equal_share(std::int64_t cap, std::int64_t among, std::int64_t place) {
  return among > 0 ? cap / among + (place < cap % among ? 1 : 0) : 0;
}

class CapShares {
 public:
  // The cap as configured here (0: no longer), and how much is in use: for a rate 0, since it can
  // be lowered at once.
  struct Cap {
    std::int64_t most = 0;
    std::int64_t in_use = 0;
  };
  using Caps = std::map<CapId, Cap>;
  // By number (epoch), which determines the places.
  using Others = std::map<std::int64_t, CapParts>;

  // Starts again under that number: nothing is held.
  void join(std::int64_t number);
  // The parts to announce now. `takes_part`: false for a proxy that drains. From now on no more
  // than share() may be used: it may be less than before.
  CapParts plan(const Caps& caps, bool takes_part);
  // The announcement was made, and the others had these parts when they were read, after the
  // previous learn(). Between plan() and this call no use may grow beyond share(). Not called if it
  // is unknown whether the announcement was made.
  void learn(const Others& others);
  // How much may be in use: nothing more may begin beyond it.
  std::int64_t share(const CapId& cap) const;
  // Whether announcing and reading again at once would change nothing.
  bool is_settled() const;

 private:
  struct State {
    Cap cap;
    bool takes_part = false;
    std::int64_t share = 0;
    std::int64_t told = 0;     // the others see at least this much
    std::int64_t telling = 0;  // set by plan() until learn()
  };

  std::int64_t aim(const CapId& id, const State& state) const;
  std::int64_t left(const CapId& id, const State& state) const;
  std::int64_t wanted(const CapId& id, const State& state) const;

  std::int64_t number_ = 0;
  std::map<CapId, State> states_;
  Others others_;
};

}  // namespace spillway::jobs

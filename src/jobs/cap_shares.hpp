// What one proxy may use of the caps of routes (`concurrency`, `rate`), which hold for all proxies
// on a store together. Pure: the store carries what each tells the others.
//
// Each proxy holds a part of each cap, and tells the others of it with each renewal of its lease.
// It aims at an equal part, gives up at once what it has beyond that and does not use, and takes no
// more than the others leave. What it takes it uses only after it has told so, and a later look has
// shown that it is still free. Of two that take at the same time at least the later one sees the
// other (the flag principle: Herlihy and Shavit, The Art of Multiprocessor Programming, 2.4). So
// all together never use more than the cap, whoever joins, ends, or reads late. No lock is held.
//
// A proxy that ended without a word holds its part until the store has found out.
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

// What the others are told.
struct CapPart {
  std::int64_t held = 0;  // not for others
  bool shares = false;    // its proxy counts among those that the cap is divided among

  bool operator==(const CapPart&) const = default;
};
using CapParts = std::map<CapId, CapPart>;

// Of `cap` among so many. What is left over goes to the first places, from 0 on: a cap below the
// number of proxies leaves the last ones without any.
constexpr std::int64_t equal_share(std::int64_t cap, std::int64_t among, std::int64_t place) {
  return among > 0 ? cap / among + (place < cap % among ? 1 : 0) : 0;
}

class CapShares {
 public:
  // As configured here (0: not any more), and how much is in use: of a rate none, since it can be
  // lowered at once.
  struct Cap {
    std::int64_t most = 0;
    std::int64_t in_use = 0;
  };
  using Caps = std::map<CapId, Cap>;
  // By number (epoch), which orders the places.
  using Others = std::map<std::int64_t, CapParts>;

  // Begins anew, under that number: nothing is held.
  void join(std::int64_t number);
  // What to tell the others now. `takes_part`: false for a proxy that drains. From now on no more
  // is to be used than share() says: it may be less than before.
  CapParts plan(const Caps& caps, bool takes_part);
  // The others were told, and had this when they were looked at, which was after the learn()
  // before. Between plan() and this nothing is taken into use beyond share(). Where it is not known
  // whether they were told, this is not called.
  void learn(const Others& others);
  // What may be in use: nothing more is begun beyond it.
  std::int64_t share(const CapId& cap) const;
  // Nothing would change if the others were told and looked at at once again.
  bool is_settled() const;

 private:
  struct State {
    Cap cap;
    bool takes_part = false;
    std::int64_t share = 0;
    std::int64_t told = 0;     // at least that is what the others see
    std::int64_t telling = 0;  // from plan() to learn()
  };

  std::int64_t aim(const CapId& id, const State& state) const;
  std::int64_t left(const CapId& id, const State& state) const;
  std::int64_t wanted(const CapId& id, const State& state) const;

  std::int64_t number_ = 0;
  std::map<CapId, State> states_;
  Others others_;
};

}  // namespace spillway::jobs

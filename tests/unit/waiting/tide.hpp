// Visitors of several tiers who come, wait, leave and stay for random times, on a virtual clock.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "crowd.hpp"

namespace spillway::waiting {

struct Stream {
  Priority priority = 0;
  double per_second = 0;
};

struct Tide {
  std::vector<Stream> streams;
  std::size_t at_first = 0;  // so many of the first stream are there at the beginning
  double stay = 300;         // seconds inside, mean of an exponential distribution
  double patience = 0;       // seconds, likewise; 0: without end
  double away = 0;           // share that reserves, goes, and comes some time after it is called
  double ghosts = 0;         // of these, who never come
  std::uint64_t seed = 1;
};

// Plays it in a room; between two calls of pass() figures can be looked at.
class TidePlay {
 public:
  TidePlay(const Terms& terms, Tide tide)
      : tide_(std::move(tide)), room_(terms), random_(tide_.seed) {
    for (std::size_t n = 0; n < tide_.at_first; ++n) come(tide_.streams.front().priority);
  }

  void pass(Milliseconds time) {
    for (const Time until = now_ + time; now_ < until; now_ += kTick) {
      for (const Stream& stream : tide_.streams) {
        double& due = due_[stream.priority];
        for (due -= 0.1; due <= 0; due += drawn(1 / stream.per_second)) come(stream.priority);
      }
      while (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
      }
      room_.tick(now_, backend);
    }
  }

  Backend backend = kHealthy;
  // All who are inside, and all who come in from now on, stay for so many times as long.
  void slow_down(double times) { slowness_ *= times; }

  WaitingRoom& room() { return room_; }
  Time now() const { return now_; }
  Counts counts() const { return room_.counts(now_); }
  std::function<void(const WaitingRoom::View&)> on_poll;  // of who waits
  // Entries since the last call, by priority.
  std::map<Priority, std::size_t> take_entered() { return std::exchange(entered_, {}); }
  // What each visitor sees of its place, each time.
  std::function<void(const TicketId&, const View&)> on_view{};

 private:
  enum class Does : std::uint8_t { poll, leave, look };
  struct Event {
    Time at;
    std::uint64_t number = 0;
    Does does = Does::poll;
    Priority priority = 0;
    bool operator>(const Event& other) const { return at > other.at; }
  };

  double drawn(double mean) { return -std::log(1 - random_.uniform()) * mean; }
  void later(double seconds, std::uint64_t number, Does does, Priority priority) {
    const Milliseconds time(static_cast<std::int64_t>(seconds * 1000));
    events_.push({now_ + time, number, does, priority});
  }
  void happen(const Event& event) {
    switch (event.does) {
      case Does::poll: return poll(event);
      case Does::leave: return leave(event);
      case Does::look: return look(event);
    }
  }
  // As often as it has to, one that is inside stays for as long again.
  void leave(const Event& event) {
    const TicketId id = id_of(event.number);
    const bool stays = slowness_ > 1 && room_.has_session(id) && random_.uniform() >= 1 / slowness_;
    if (stays) return later(drawn(tide_.stay), event.number, Does::leave, event.priority);
    room_.cancel(id, now_);
  }
  void come(Priority priority) {
    const std::uint64_t number = next_++;
    const auto contact = room_.join(id_of(number), now_, now_, priority);
    if (contact.session) return entered(number, priority);
    if (!contact.view) return;
    if (tide_.away > 0 && random_.uniform() < tide_.away) return go_away(number, priority);
    if (on_view) on_view(id_of(number), *contact.view);
    later(1 + random_.uniform(), number, Does::poll, priority);
    if (tide_.patience > 0) later(drawn(tide_.patience), number, Does::leave, priority);
  }
  void poll(const Event& event) {
    const auto view = room_.hear(id_of(event.number), now_);
    if (!view) return;
    if (on_view) on_view(id_of(event.number), *view);
    if (view->state == TicketState::processing && room_.claim(id_of(event.number), now_))
      return entered(event.number, event.priority);
    if (view->state == TicketState::fulfilled) return;
    if (on_poll) on_poll(*view);
    const double poll = static_cast<double>(view->poll.count()) / 1000;
    later(poll * (1 + 0.3 * random_.uniform()), event.number, Does::poll, event.priority);
  }
  void go_away(std::uint64_t number, Priority priority) {
    room_.reserve(id_of(number), now_);
    if (random_.uniform() >= tide_.ghosts) later(10, number, Does::look, priority);
  }
  // Whether it was told that it is called: no sign of life.
  void look(const Event& event) {
    const auto view = room_.peek(id_of(event.number));
    if (!view) return;
    const bool is_called = view->state == TicketState::processing;
    const double claim = static_cast<double>(room_.terms().reserve.claim.count()) / 1000;
    later(is_called ? claim * random_.uniform() : 10, event.number,
          is_called ? Does::poll : Does::look, event.priority);
  }
  // An impatient one may leave earlier.
  void entered(std::uint64_t number, Priority priority) {
    ++entered_[priority];
    later(drawn(tide_.stay), number, Does::leave, priority);
  }

  const Tide tide_;
  WaitingRoom room_;
  Random random_;
  Time now_ = kStart;
  double slowness_ = 1;
  std::uint64_t next_ = 0;
  std::map<Priority, double> due_;
  std::map<Priority, std::size_t> entered_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

inline Terms long_line(std::uint32_t active_sessions) {
  Terms terms = terms_for(active_sessions, When::always);
  terms.session_ttl = terms.idle = terms.max_wait = Milliseconds(86'400'000);
  return terms;
}

inline Tiers tiers_of(std::initializer_list<Tier> highest_first) {
  Tiers tiers;
  tiers.count = highest_first.size();
  std::copy(highest_first.begin(), highest_first.end(), tiers.list.begin());
  return tiers;
}

}  // namespace spillway::waiting

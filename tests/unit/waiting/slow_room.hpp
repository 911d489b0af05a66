// A waiting room, slow and obvious: a list in order, looked through from the front for everything.
// It decides nothing about how many are called, which the real one learns; it says who is next.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "crowd.hpp"

namespace spillway::waiting {

// One poll interval for all: Terms::shortest_poll is Terms::longest_poll. Visitors have to wait
// always, there are no shares, no resources, and no users.
class SlowRoom {
 public:
  struct Ticket {
    TicketId id;
    Priority priority = 0;
    Order order = 0;
    Time joined{};
    Time heard{};
    Time due{};
    bool is_present = true;
    bool is_called = false;
    Coming coming = Coming::fresh;
    Time fresh_until{};
    Time claim_until{};
    std::uint32_t extended = 0;
    std::uint32_t missed = 0;
    std::uint32_t failed = 0;
  };
  struct Session {
    Ticket stood;
    Time begun{};
    Time used{};
    bool may_go_back = true;
  };

  explicit SlowRoom(const Terms& terms) : terms_(terms) {}

  const std::vector<Ticket>& line() const { return line_; }
  const std::map<TicketId, Session>& sessions() const { return sessions_; }
  const std::map<Ended, std::uint64_t>& ended() const { return ended_; }

  Ticket* find(const TicketId& id) {
    const auto at = std::ranges::find(line_, id, &Ticket::id);
    return at == line_.end() ? nullptr : &*at;
  }
  std::size_t ahead(const TicketId& id) const {
    return static_cast<std::size_t>(std::ranges::find(line_, id, &Ticket::id) - line_.begin());
  }
  // Who is to be called before all others.
  Ticket* next() {
    const auto at = std::ranges::find(line_, true, &Ticket::is_present);
    return at == line_.end() ? nullptr : &*at;
  }
  std::size_t count(Coming coming) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        line_, [&](const Ticket& each) { return each.is_called && each.coming == coming; }));
  }
  std::size_t called() const {
    return static_cast<std::size_t>(std::ranges::count(line_, true, &Ticket::is_called));
  }
  std::size_t present() const {
    return static_cast<std::size_t>(std::ranges::count(line_, true, &Ticket::is_present));
  }
  std::size_t begun_since(Time time) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(begun_, [&](Time each) { return each >= time; }));
  }
  // Sessions that could begin.
  std::size_t room(Time now) const {
    const std::size_t lately = begun_since(now - Milliseconds(60'000));
    if (sessions_.size() >= terms_.active_sessions || lately >= terms_.per_minute) return 0;
    return std::min(terms_.active_sessions - sessions_.size(), terms_.per_minute - lately);
  }

  void join(const TicketId& id, Time arrived, Time now, Priority priority) {
    Ticket ticket{.id = id, .priority = priority, .order = order_of(arrived, id)};
    ticket.joined = arrived;
    hear(*insert(ticket), now);
  }
  void hear(Ticket& ticket, Time now) {
    ticket.heard = now;
    if (ticket.is_called) {
      ticket.fresh_until = ticket.coming == Coming::fresh
                               ? std::min(ticket.fresh_until, now + kComing)
                               : ticket.fresh_until;
    } else {
      ticket.is_present = true;
    }
    set_due(ticket);
  }
  void call(Ticket& ticket, Time now) {
    const Milliseconds poll = terms_.shortest_poll;
    ticket.is_called = true;
    ticket.is_present = false;
    ticket.coming = Coming::fresh;
    ticket.extended = 0;
    ticket.fresh_until = std::max(ticket.heard + poll, now) + poll / 2 + kComing;
    ticket.claim_until = now + std::max(terms_.claim, poll * 3 / 2);
    set_due(ticket);
  }
  // false: it is not called, or has none left.
  bool extend(Ticket& ticket, Time now) {
    hear(ticket, now);
    if (!ticket.is_called || ticket.extended == terms_.claim_extensions) return false;
    ++ticket.extended;
    ticket.claim_until = std::max(ticket.claim_until, now + terms_.claim);
    set_due(ticket);
    return true;
  }
  // Whether a session begins, or goes on.
  bool claim(const TicketId& id, Time now) {
    if (const auto session = sessions_.find(id); session != sessions_.end()) {
      session->second.used = now;
      session->second.may_go_back = false;
      return true;
    }
    Ticket* const ticket = find(id);
    if (ticket == nullptr) return false;
    hear(*ticket, now);
    if (!ticket->is_called) return false;
    const bool goes_first = ticket->coming == Coming::at_door;
    if (room(now) > (goes_first ? 0 : count(Coming::at_door))) {
      sessions_[id] = {.stood = *ticket, .begun = now, .used = now};
      begun_.push_back(now);
      remove(id);
      return true;
    }
    ticket->coming = Coming::at_door;
    ticket->claim_until = std::max(ticket->claim_until, now + terms_.claim);
    ticket->fresh_until = now + std::max(terms_.shortest_poll, kPageReload) * 3 / 2 + kComing;
    set_due(*ticket);
    return false;
  }
  void stay(const TicketId& id, Time now) { sessions_.at(id).used = now; }
  bool go_back(const TicketId& id, Time now) {
    const auto session = sessions_.find(id);
    if (session == sessions_.end() || !session->second.may_go_back) return false;
    const Ticket stood = session->second.stood;
    if (stood.failed + 1 >= terms_.attempts) return false;
    sessions_.erase(session);
    Ticket ticket{.id = id, .priority = stood.priority, .order = order_of(stood.joined, id)};
    ticket.joined = stood.joined;
    ticket.missed = stood.missed;
    ticket.failed = stood.failed + 1;
    hear(*insert(ticket), now);
    return true;
  }
  bool cancel(const TicketId& id) {
    if (sessions_.erase(id) > 0) return true;
    if (find(id) == nullptr) return false;
    end(id, Ended::cancelled);
    return true;
  }
  // So that so many of its own tier are before it, or all.
  Moved move(const TicketId& id, std::size_t ahead) {
    const Ticket* const found = find(id);
    if (found == nullptr) return Moved::unknown;
    if (found->is_called) return Moved::called;
    Ticket ticket = *found;
    remove(id);
    std::vector<TicketId> others;
    for (const Ticket& each : line_) {
      if (each.priority == ticket.priority) others.push_back(each.id);
    }
    if (others.empty()) {
      ticket.order = order_of(ticket.joined, id);
      insert(ticket);
      return Moved::moved;
    }
    const bool is_last = ahead >= others.size();
    const auto next =
        std::ranges::find(line_, is_last ? others.back() : others[ahead], &Ticket::id);
    ticket.joined = next->joined;
    ticket.order = next->order;
    if (is_last) {
      insert(ticket);
    } else {
      line_.insert(next, ticket);
    }
    return Moved::moved;
  }
  // Time has passed: what is over ends, calls that were missed are taken back.
  void pass(Time now) {
    std::erase_if(sessions_, [&](const auto& each) {
      const Session& session = each.second;
      return now >= session.begun + terms_.session_ttl ||
             now >= session.used + kRenewAfter + terms_.idle;
    });
    std::vector<TicketId> due;
    for (const Ticket& each : line_) {
      if (now >= each.due) due.push_back(each.id);
    }
    for (const TicketId& id : due) pass(*find(id), now);
  }

 private:
  static constexpr Milliseconds kComing{3'000};

  Time kept_until(const Ticket& ticket) const {
    return ticket.heard + std::max(terms_.abandon, terms_.shortest_poll * 3 / 2);
  }
  void set_due(Ticket& ticket) const {
    if (!ticket.is_called) {
      ticket.due = std::min(ticket.heard + terms_.shortest_poll * 5 / 2, kept_until(ticket));
    } else if (ticket.coming == Coming::lapsed) {
      ticket.due = ticket.claim_until;
    } else {
      ticket.due = std::min(ticket.fresh_until, ticket.claim_until);
    }
  }
  void pass(Ticket& ticket, Time now) {
    if (ticket.is_called && now < ticket.claim_until) {
      ticket.coming = Coming::lapsed;
      ticket.due = ticket.claim_until;
    } else if (ticket.is_called) {
      if (++ticket.missed == terms_.attempts) return end(ticket.id, Ended::not_claimed);
      ticket.is_called = false;
      ticket.due = kept_until(ticket);
    } else {
      if (now >= kept_until(ticket)) return end(ticket.id, Ended::abandoned);
      ticket.is_present = false;
      ticket.due = kept_until(ticket);
    }
  }
  // Behind all of higher tiers, and of its own behind all of the same order.
  Ticket* insert(const Ticket& ticket) {
    const auto at = std::ranges::find_if(line_, [&](const Ticket& each) {
      return each.priority < ticket.priority ||
             (each.priority == ticket.priority && each.order > ticket.order);
    });
    return &*line_.insert(at, ticket);
  }
  void remove(const TicketId& id) {
    std::erase_if(line_, [&](const Ticket& each) { return each.id == id; });
  }
  void end(const TicketId id, Ended why) {
    ++ended_[why];
    remove(id);
  }

  const Terms terms_;
  std::vector<Ticket> line_;
  std::map<TicketId, Session> sessions_;
  std::vector<Time> begun_;
  std::map<Ended, std::uint64_t> ended_;  // tickets
};

}  // namespace spillway::waiting

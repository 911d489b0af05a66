// What this proxy wants written of a waiting room that it shares with others: commands that
// somebody waits for, which go at once, and news, which go together about once a second.
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "waiting/replica/command.hpp"

namespace spillway::proxy {

// A command on its way into the log and back. The request that waits for it and the keeper that
// writes it share it, since the request may end first.
struct RoomCall {
  RoomCall(waiting::Command asked, std::function<void()> then)
      : command(std::move(asked)), done(std::move(then)) {}

  const waiting::Command command;
  std::optional<waiting::Outcome> outcome;  // none: the log did not answer, and it may still happen
  const std::function<void()> done;         // once, on another thread
};

class RoomOutbox {
 public:
  static constexpr std::size_t kMostCalls = 8192;
  static constexpr std::size_t kAtATime = 256;  // calls in a row
  static constexpr std::size_t kMostHeard = 65'536;
  static constexpr std::size_t kHeardAtATime = 4096;  // ids in a row, of each kind

  // `ring`: there is a call to be written.
  explicit RoomOutbox(std::function<void()> ring) : ring_(std::move(ring)) {}

  // false: the log does not answer now, or too many wait; done() is not called.
  bool submit(std::shared_ptr<RoomCall> call);
  // Beyond kMostHeard visitors they are left out: the visitor polls again.
  void hear(const waiting::TicketId& id) { add(heard_, id); }
  void stay(const waiting::TicketId& id) { add(stayed_, id); }
  void count(waiting::WaitingRoom::Door door);
  void agree(const waiting::Terms& terms);

  using Calls = std::vector<std::shared_ptr<RoomCall>>;
  // The next to be written, the oldest first.
  Calls take_calls();
  bool has_news() const;
  // Terms that are to be agreed on do not wait for the next news.
  bool is_urgent() const;
  waiting::News take_news();
  // It could not be written.
  void put_back(waiting::News news);
  // Visitors that polled or used their pass, and are not in the log yet.
  std::vector<waiting::TicketId> reported() const;

  // While it is refused nothing can be submitted, and the calls that wait are refused.
  void refuse(bool is_refused);

 private:
  void add(std::set<waiting::TicketId>& to, const waiting::TicketId& id);

  const std::function<void()> ring_;
  mutable std::mutex mutex_;
  bool is_refused_ = false;
  Calls calls_;
  // Each once: a program may go on with one token as fast as it can, and pushes out no news of
  // others.
  std::set<waiting::TicketId> heard_;
  std::set<waiting::TicketId> stayed_;
  waiting::WaitingRoom::Turned turned_;
  std::optional<waiting::Terms> terms_;
};

// Waits for what comes of it, a few seconds at most: for a thread that visitors do not wait for.
std::optional<waiting::Outcome> wait_for_log(RoomOutbox& outbox, waiting::Command command);

}  // namespace spillway::proxy

// The changes of a shared waiting room that this proxy has to write: commands with a request that
// waits for them, which are written at once, and news, which are written together about once a
// second. Thread-safe.
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

// A command on its way into the log and back. Shared by the request that waits for it and the
// keeper that writes it, since the request may end first.
struct RoomCall {
  RoomCall(waiting::Command asked, std::function<void()> then)
      : command(std::move(asked)), done(std::move(then)) {}

  const waiting::Command command;
  std::optional<waiting::Outcome> outcome;  // none: the log did not answer; it may still happen
  const std::function<void()> done;         // called once, on another thread
};

class RoomOutbox {
 public:
  static constexpr std::size_t kMostCalls = 8192;
  static constexpr std::size_t kAtATime = 256;  // calls in a row
  static constexpr std::size_t kMostHeard = 65'536;
  static constexpr std::size_t kHeardAtATime = 4096;  // ids in a row, of each kind

  // `ring` is called when there is a call to be written.
  explicit RoomOutbox(std::function<void()> ring) : ring_(std::move(ring)) {}

  // false: the log does not answer now, or too many calls wait; done() is not called.
  bool submit(std::shared_ptr<RoomCall> call);
  // Beyond kMostHeard visitors they are dropped: the visitor polls again.
  void hear(const waiting::TicketId& id) { add(heard_, id); }
  void stay(const waiting::TicketId& id) { add(stayed_, id); }
  void count(waiting::WaitingRoom::Door door);
  void agree(const waiting::Terms& terms);

  using Calls = std::vector<std::shared_ptr<RoomCall>>;
  // The next calls to write, the oldest first.
  Calls take_calls();
  bool has_news() const;
  // Whether to write now: calls, and terms to agree on, do not wait for the next news.
  bool is_urgent() const;
  waiting::News take_news();
  // After a failed write.
  void put_back(waiting::News news);
  // Visitors that polled or used their pass, and are not in the log yet.
  std::vector<waiting::TicketId> reported() const;

  // While refused, nothing can be submitted, and waiting calls are ended without an outcome.
  void refuse(bool is_refused);

 private:
  void add(std::set<waiting::TicketId>& to, const waiting::TicketId& id);

  const std::function<void()> ring_;
  mutable std::mutex mutex_;
  bool is_refused_ = false;
  Calls calls_;
  // Each id once: a program may send requests with one token as fast as it can, and displaces no
  // news of others.
  std::set<waiting::TicketId> heard_;
  std::set<waiting::TicketId> stayed_;
  waiting::WaitingRoom::Turned turned_;
  std::optional<waiting::Terms> terms_;
};

// Waits for the outcome, a few seconds at most: for a thread that visitors do not wait for.
std::optional<waiting::Outcome> wait_for_log(RoomOutbox& outbox, waiting::Command command);

}  // namespace spillway::proxy

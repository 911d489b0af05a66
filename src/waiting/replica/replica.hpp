// A waiting room that several proxies share: each has a replica, and all apply the same rows of one
// log in the same order (a replicated state machine: Schneider, ACM Computing Surveys 22, 1990). So
// all replicas are equal at the same row. Pure: the log gives time and order.
//
// No proxy depends on another: each row runs the room's tick if that is overdue, whichever proxy
// wrote the row. A stopped proxy writes no rows, and what it writes later is just a later row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waiting/replica/command.hpp"

namespace spillway::waiting {

// 128 random bits; another one after a restart.
using ProxyId = TicketId;

// One row: the commands that one proxy writes at a time.
struct LogEntry {
  ProxyId proxy;
  std::uint64_t number = 0;  // counts its entries
  Backend backend;           // as this proxy sees it
  std::vector<Command> commands;

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.proxy, self.number, self.backend.is_overloaded, self.backend.pace, self.commands);
  }
};

std::string to_bytes(const LogEntry& entry);
// nullopt: written by another version of Spillway, or corrupt.
std::optional<LogEntry> read_entry(std::string_view bytes);

class Replica {
 public:
  // A tick is due this long after the last one.
  static constexpr Milliseconds kTick{100};
  // A proxy writes once a second. One that has not written for this long does not count.
  static constexpr Milliseconds kAlive{5'000};
  // If no proxy has written for this long, no visitor's poll could arrive.
  static constexpr Milliseconds kSilence{15'000};

  // Before the first row. The terms in force come with the rows.
  explicit Replica(const Terms& terms = {}) : room_(terms) {}

  const WaitingRoom& room() const { return room_; }
  // For the proxy's own parts of the room; without a log all of it is its own.
  WaitingRoom& own() { return room_; }
  // The terms that were agreed on last. The room may keep a former start.
  const std::optional<Terms>& terms() const { return terms_; }
  Time time() const { return last_; }  // of the last row

  // The outcome of each of its commands.
  std::vector<Outcome> apply(const LogEntry& entry, Time time);

  // Proxies that have written lately.
  std::size_t proxies() const;
  // The mean of the proxies' reports. An overloaded proxy counts with pace 0; the result is
  // overloaded if more than half of them are, so that one slow proxy does not stop entry for all.
  Backend backend() const;

  std::string archive() const;
  // false: of another version, or corrupt; then nothing has changed. The proxy's own parts of the
  // room are lost.
  bool restore(std::string_view bytes);

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.room_, self.terms_, self.reports_, self.last_, self.ticked_);
  }

  struct Report {
    ProxyId proxy;
    Time at{};
    bool is_overloaded = false;
    double pace = 1;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.proxy, self.at, self.is_overloaded, self.pace);
    }
  };
  void note_report(const LogEntry& entry, Time time);

  WaitingRoom room_;
  std::optional<Terms> terms_;
  std::vector<Report> reports_;
  Time last_{};
  Time ticked_{};
};

}  // namespace spillway::waiting

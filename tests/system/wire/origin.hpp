// The origin of one case at a time: answers as the case says and keeps every byte it got.
//
// It has a port for each Door. One thread, which reads all connections as a lenient server would;
// connections stay open from step to step and case to case, as a proxy's pool wants them to.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/event.hpp"
#include "system/wire/messages.hpp"

namespace spillway::wire {

class Origin {
 public:
  Origin();
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  std::uint16_t port(Door door = Door::main) const { return ports_[static_cast<int>(door)]; }
  std::string address(Door door = Door::main) const {
    return "127.0.0.1:" + std::to_string(port(door));
  }

  // A step begins. Requests get these answers in turn, from the one behind the first `turn`; then
  // 200 and "ok".
  void begin(const std::vector<Answer>& answers, std::size_t turn);
  struct Recorded {
    std::vector<std::string> received;  // connection by connection
    std::vector<Door> doors;            // likewise, where it came in
    std::size_t turn = 0;               // of the next step
  };
  // It has ended: waits until nothing more is on its way and closes what is left half done.
  Recorded end();

  // True when the head of a request has come since the step began.
  bool wait_head(support::Milliseconds within) const;
  // True when a request has come and all its answer been said since then.
  bool wait_answered(support::Milliseconds within) const;
  // The client has got some bytes: the answer may go on.
  void client_received();

 private:
  struct Connection {
    int socket;
    Door door;
    std::string received;          // since the step began
    std::size_t order = 0;         // of arrival, within the step
    std::string pending;           // not yet read as a request
    std::optional<Answer> answer;  // being given
    bool body_read = false;
    std::size_t pieces_said = 0;
    std::size_t client_received = 0;  // when the last piece was said
    support::Deadline next_piece{support::Milliseconds{0}};
    bool only_reads = false;  // no more requests are expected here
    bool over = false;        // belongs to a step that has ended
    bool gone = false;
  };

  void run();
  void accept_one(Door door);
  void drop(Connection& connection);
  void read_from(Connection& connection);
  void advance(Connection& connection);
  bool take_request(Connection& connection);
  Answer next_answer(std::string_view head);
  bool say_pieces(Connection& connection);
  bool is_quiet() const;

  std::array<int, kDoors> listeners_;
  std::array<std::uint16_t, kDoors> ports_;
  int wake_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool ending_ = false;
  std::vector<Answer> answers_;
  std::size_t turn_ = 0;
  bool has_repeated_ = false;  // the answer whose turn it is
  std::size_t asked_ = 0;      // this and what follows: since the step began
  std::size_t answered_ = 0;
  std::size_t connections_used_ = 0;
  std::atomic<std::size_t> client_received_ = 0;  // how often
  std::list<Connection> connections_;
  std::thread thread_;
};

// The target of the request that shows whether a connection is still good, and what is said to it.
inline constexpr std::string_view kAnother = "/another";
inline constexpr std::string_view kAnotherBody = "another";

}  // namespace spillway::wire

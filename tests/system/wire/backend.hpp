// The backend of one case after another: answers as the case says and keeps every byte it got.
//
// One thread, which reads all connections as a lenient server would; connections stay open from
// case to case, as a proxy's pool wants them to.
#pragma once

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
#include "system/wire/case.hpp"

namespace spillway::conformance {

class Backend {
 public:
  Backend();
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // A case begins. Requests get these answers in turn, then 200 and "ok".
  void begin(const std::vector<Answer>& answers);
  // It has ended: waits until nothing more is on its way, closes what is left half done, and hands
  // out what came, connection by connection.
  std::vector<std::string> end();

  // True when the head of a request has come since the case began.
  bool wait_head(support::Milliseconds within) const;
  // True when a request has come and all its answer been said since then.
  bool wait_answered(support::Milliseconds within) const;
  // The client has got some bytes: the answer may go on.
  void client_received();

 private:
  struct Connection {
    int socket;
    std::string received;          // since the case began
    std::size_t order = 0;         // of arrival, within the case
    std::string pending;           // not yet read as a request
    std::optional<Answer> answer;  // being given
    bool body_read = false;
    std::size_t pieces_said = 0;
    std::size_t client_received = 0;  // when the last piece was said
    support::Deadline next_piece{support::Milliseconds{0}};
    bool only_reads = false;  // no more requests are expected here
    bool over = false;        // belongs to a case that has ended
    bool gone = false;
  };

  void run();
  void accept_one();
  void drop(Connection& connection);
  void read_from(Connection& connection);
  void advance(Connection& connection);
  bool take_request(Connection& connection);
  bool say_pieces(Connection& connection);
  void say(Connection& connection, std::string_view bytes);
  bool is_quiet() const;

  std::uint16_t port_ = 0;
  int listener_;
  int wake_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool ending_ = false;
  std::vector<Answer> answers_;
  std::size_t asked_ = 0;
  std::size_t answered_ = 0;
  std::size_t connections_used_ = 0;
  std::atomic<std::size_t> client_received_ = 0;  // how often
  std::list<Connection> connections_;
  std::thread thread_;
};

// What is said to requests for which a case has no answer; the one whose target is "/another".
inline constexpr std::string_view kAnother = "/another";
inline constexpr std::string_view kAnotherBody = "another";

}  // namespace spillway::conformance

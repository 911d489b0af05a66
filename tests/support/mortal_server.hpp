// An HTTP server that can die and come back on the same port, and that says whether it is well.
//
// Answers every request (without body) after the service time, however many there are: with the
// status that is set, or, asked for /up, at once with the one set for checks. Dead it has closed
// all its connections, answered or not, and refuses new ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "support/event.hpp"

namespace spillway::support {

class MortalServer {
 public:
  // On a free port of 127.0.0.1, on a thread of its own.
  explicit MortalServer(Milliseconds service = Milliseconds{0});
  ~MortalServer();
  MortalServer(const MortalServer&) = delete;
  MortalServer& operator=(const MortalServer&) = delete;

  std::string address() const;

  // Both return once it is so.
  void die();
  void revive();

  void answer_with(int status) { status_ = status; }
  void answer_checks_with(int status) { check_status_ = status; }

  std::uint64_t requests() const { return requests_; }  // but for /up
  std::uint64_t checks() const { return checks_; }      // for /up
  std::uint64_t accepted() const { return accepted_; }
  std::size_t connections() const { return connections_; }  // now

 private:
  struct Loop;

  std::atomic<int> status_{200};
  std::atomic<int> check_status_{200};
  std::atomic<bool> alive_{true};
  std::atomic<bool> listening_{false};
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> checks_{0};
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::size_t> connections_{0};
  std::unique_ptr<Loop> loop_;
};

}  // namespace spillway::support

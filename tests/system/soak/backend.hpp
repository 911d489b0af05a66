// A server behind the proxy that does what the target of each request asks for, as a thread for
// each connection: the right answer, slowly, in chunks, or a fault.
//
//   /any/path?size=N         N bytes of the line that names the request (expected.hpp); default 64
//            &framing=F      length (default), chunked or close
//            &delay=MS       before the answer; &pace=MS before each 16 KiB of it
//            &interim=N      so many 103 first
//            &cache=S        Cache-Control: max-age=S, and an ETag; If-None-Match is honoured
//            &early=1        answers before the request's body has been read
//            &events=N       a stream of so many events, &delay between two
//            &fault=NAME     see faults.cpp
//
// A body is answered with its receipt. An Upgrade is accepted and echoes. While the server is slow,
// everything takes that much longer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "system/soak/wire.hpp"

namespace spillway::soak {

class Backend {
 public:
  Backend();  // listens on a free port; throws std::system_error
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  std::uint16_t port() const { return port_; }
  void be_slow(Milliseconds by) { slow_by_ = static_cast<int>(by.count()); }
  // Refuses connections and breaks those there are, until revive().
  void die();
  void revive();

  std::uint64_t requests() const { return requests_; }
  std::uint64_t faults() const { return faults_; }
  int connections() const { return connections_; }
  // Requests that must never have come; the first few of them.
  std::vector<std::string> smuggled() const;

 private:
  void listen();
  void accept_all();
  void serve(int socket);
  // False when the connection is to be closed.
  bool answer(Wire& wire, support::Message& head);
  bool read_body(Wire& wire, const support::Message& head, support::Message& request);
  bool give(Wire& wire, const support::Message& request);
  bool give_events(Wire& wire, std::string_view target);
  void echo(Wire& wire);

  std::uint16_t port_ = 0;
  std::atomic<int> listener_{-1};
  std::atomic<bool> ending_ = false;
  std::atomic<int> slow_by_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> faults_ = 0;
  mutable std::mutex mutex_;
  std::list<Wire*> wires_;
  std::vector<std::string> smuggled_;
  std::condition_variable left_;  // a connection has been closed
  std::thread acceptor_;
};

}  // namespace spillway::soak

// An HTTP backend of limited capacity that keeps count of what the proxy asks of it at once.
//
// Every request (without body) waits in an unbounded first-come line for one of the slots, holds
// it for the service time and is answered 200. It goes on working for clients that have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "support/event.hpp"

namespace spillway::support {

struct Capacity {
  std::size_t slots = 1'000'000;
  Milliseconds service{0};
};

class CountingBackend {
 public:
  // Serves on a free port of 127.0.0.1, on a thread of its own.
  explicit CountingBackend(Capacity capacity);
  ~CountingBackend();
  CountingBackend(const CountingBackend&) = delete;
  CountingBackend& operator=(const CountingBackend&) = delete;

  std::uint16_t port() const;
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  void set_service(Milliseconds service);

  // A connection counts until its peer has closed it, whether or not that was noticed here yet,
  // so that "at once" means what it says.
  struct Seen {
    std::uint64_t requests = 0;
    std::size_t most_in_progress = 0;  // requests at once
    std::size_t most_connections = 0;  // at once
    std::size_t connections = 0;       // now
    std::uint64_t accepted = 0;        // connections in all
  };
  Seen seen() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::support

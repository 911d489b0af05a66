// What is measured: the proxy as a process of its own, with a waiting room, and a shop behind it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "bench/load/endpoint.hpp"
#include "bench/overload/backend_thread.hpp"
#include "bench/overload/peer_process.hpp"

namespace spillway::waiting_bench {

// Removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Room {
  std::size_t sessions = 1;
  std::size_t max_tickets = 1000;
  const char* when = "always";
};

class Site {
 public:
  // `spillway`: the proxy's program. Throws std::runtime_error if it does not start.
  Site(const std::string& spillway, const Room& room);

  load::Endpoint endpoint() const { return {boost::asio::ip::address_v4::loopback(), port_}; }
  pid_t proxy() const { return proxy_->pid(); }
  // Tickets that were made, by its metrics. Runs `io` meanwhile.
  std::size_t tickets(boost::asio::io_context& io) const;

 private:
  Folder folder_;
  bench::BackendThread backend_;
  std::uint16_t port_;
  std::uint16_t admin_;
  std::optional<bench::PeerProcess> proxy_;
};

}  // namespace spillway::waiting_bench

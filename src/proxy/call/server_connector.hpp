// Chooses one of the upstream's servers for a request, and connects to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proxy/net/endpoint.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/deadlines.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/upstream/circuits.hpp"
#include "proxy/upstream/upstream_pool.hpp"
#include "resilience/server_search.hpp"

namespace spillway::proxy {

class ServerConnector {
 public:
  ServerConnector(Services& services, const RequestContext& request, Parking& parking)
      : services_(services), request_(request), parking_(parking) {}
  ServerConnector(const ServerConnector&) = delete;
  ServerConnector& operator=(const ServerConnector&) = delete;

  struct Connected {
    Connected() = default;
    Connected(Connected&&) = default;
    Connected& operator=(Connected&&) = default;
    ~Connected() {
      if (connection) connection->retire();
    }

    // The attempt has ended.
    bool is_settled() const { return connection || fault; }

    UpstreamPtr connection;
    Circuits::Call call;  // at the circuit of the server
    std::optional<Fault> fault;
  };
  // Begins an attempt: chooses a server in load-balancing order and takes a kept connection to it.
  // Most requests find one and need no coroutine for that; otherwise connect() goes on.
  // `fresh_only`: takes no kept connection. `dispatched`: when the request got its slot.
  Connected take_kept(bool fresh_only, TimePoint dispatched);
  // Opens a connection. Tries each server at most once; servers that failed earlier attempts only
  // if all have; none whose circuit is open. A failed connection is no retry: no byte was sent, so
  // the next server may be tried whatever the method.
  Task<> connect(Connected& into, const Deadlines& deadlines);

  // A fault while the circuits of all servers are open, or let other requests go first.
  std::optional<Fault> circuits_fault();
  bool has_untried_server() const { return search_.has_untried(); }
  // The kept connection of the last attempt is to be replaced by a fresh one.
  void replace_kept() { search_.try_again(asked_server_); }
  // Number of servers tried, including failed connections; and the last of them.
  std::uint32_t attempts() const { return attempts_; }
  std::size_t asked_server() const { return asked_server_; }

 private:
  enum class Opened : std::uint8_t { done, next_address, next_server, ended };

  void choose(Connected& into);
  Task<> reserve_connection();
  Task<Opened> open(std::size_t server, Connected& into, const Deadlines& deadlines);
  Task<Opened> open_to(std::size_t server, std::size_t address, Connected& into,
                       const Deadlines& deadlines);
  Task<Opened> await_connected(Connected& into, const Deadlines& deadlines);
  void count_shortage(int error, std::size_t server, std::size_t address);
  std::optional<Fault> fault_after_all();
  Fault circuits_open(Milliseconds left);
  Circuits::Source source_for(const Circuits& circuits) const;
  Upstream& upstream() const { return request_.upstream(); }

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  resilience::ServerSearch search_;
  std::uint32_t attempts_ = 0;
  std::size_t asked_server_ = 0;
  // The attempt under way:
  bool fresh_only_ = false;
  TimePoint dispatched_{};
  std::uint64_t turn_ = 0;
  TimePoint give_up_ = kNever;  // set when the proxy first waits for a server
  bool has_timed_out_ = false;
  int error_ = 0;          // errno value of the last attempt
  bool is_short_ = false;  // a lack of descriptors, ports or memory
};

}  // namespace spillway::proxy

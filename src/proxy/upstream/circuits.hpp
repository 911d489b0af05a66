// One worker's circuit breakers for one upstream, one per server. Without `circuit_breaker` in the
// configuration every call is allowed. Results also go to Servers, which counts failures and ejects
// servers.
//
// A call covers the connection attempt, sending the request and receiving the response to its end.
// It fails without a connection, without a valid head in time, with status 500, 502, 503 or 504, or
// if the body is cut off, stalls or is malformed; not if the client left, or was so slow that the
// server may have given up. A half-open probe lets the next one in once its head has come, since a
// body may be long. If the server has seen any part of the request, a failure (no response, a
// failed one, one that breaks off) is also judged by its source: failures of one client that keeps
// requesting what fails are not held against the server. Worker thread only; reads the clock.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>

#include "base/random.hpp"
#include "base/time.hpp"
#include "observe/count/server_failure.hpp"
#include "observe/log/log.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::proxy {

struct Upstream;

class Circuits {
 public:
  // Permission for one call to one server. Ends once: by succeed(), fail() or ignore(), or as
  // ignored in the destructor. Must not outlive its Circuits.
  class Call {
   public:
    Call() = default;
    Call(Call&& other) noexcept;
    Call& operator=(Call&& other) noexcept;
    ~Call() { ignore(); }

    // Has no effect if the call was not allowed or has ended.
    void answered();  // a good head has come
    // The source of the request: if it is known, a failure is not only the server's.
    void of(const resilience::FailureSource& source) { source_ = source; }
    // The address of the server to which the call is made.
    void to(std::size_t address) { address_ = address; }
    void succeed() { end(resilience::CallResult::success, "success"); }
    void ignore() { end(resilience::CallResult::ignored, {}); }
    // Counted; logged at a limited rate. `detail`: the cause, if the kind does not say it all.
    void fail(observe::ServerFailure kind, std::string_view detail = {});
    bool allowed() const { return allowed_; }
    bool has_ended() const { return circuits_ == nullptr; }

   private:
    friend class Circuits;
    void end(resilience::CallResult result, std::string_view why);

    bool allowed_ = false;
    Circuits* circuits_ = nullptr;  // null: not allowed, or ended
    std::size_t server_ = 0;
    std::size_t address_ = 0;
    resilience::CircuitBreaker::Call call_;
    std::optional<resilience::FailureSource> source_;
  };

  // The arguments must outlive this. Logs circuits that open or close, servers that are ejected or
  // return, and failures (at most one per kind and server in ten seconds).
  Circuits(Upstream& upstream, Random& random, observe::Log& log);
  Circuits(const Circuits&) = delete;
  Circuits& operator=(const Circuits&) = delete;

  // The source of a call: needed while judges_probes().
  using Source = std::optional<resilience::FailureSource>;

  // 0 if a call to some server would be allowed now; otherwise the least time until one may be.
  Milliseconds time_until_allowed(const Source& source = std::nullopt) const;
  Call allow(std::size_t server, const Source& source = std::nullopt);
  // Requests go to this server: its circuit is closed, and it is neither unwell nor ejected (or all
  // servers are).
  bool lets_through(std::size_t server) const;
  // Whether the source of a call to be allowed matters: while a circuit is half-open and a probe
  // has failed.
  bool judges_probes() const;
  // Whether the source of a success matters: not without circuits, and for ejection only while a
  // server is suspected.
  bool judges_sources() const;

  // A failure outside a call: counted and logged, without effect on circuits or ejection.
  void count_failure(std::size_t server, std::size_t address, observe::ServerFailure kind,
                     std::string_view detail = {});

 private:
  void record(const Call& call, resilience::CallResult result, std::string_view why);
  void record_at_breaker(const Call& call, resilience::CallResult result, std::string_view why);
  void log_event(observe::ServerEvent what, std::size_t server, std::string_view why);

  Upstream& upstream_;
  Random& random_;
  observe::Log& log_;
  std::deque<resilience::CircuitBreaker> breakers_;  // by server; empty: no circuit breakers
};

}  // namespace spillway::proxy

// Leave to ask the servers of one upstream, and what came of it. One worker's circuit breakers, one
// for each server, so that a server that keeps failing is left alone for a while; without
// `circuit_breaker` in the configuration every call is allowed. What came of a call is told to
// Servers as well, which counts failures and ejects.
//
// A call is a connection attempt with the request sent on it, up to the head of its response. It
// fails if there is no connection, no head in time, no valid one, or one of 500, 502, 503 or 504.
// What comes after the head counts for nothing: a probe must not hold its place for as long as a
// body takes. Used on its worker's thread only; reads the clock.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "base/random.hpp"
#include "base/time.hpp"
#include "observe/log.hpp"
#include "observe/server_failure.hpp"
#include "resilience/circuit_breaker.hpp"

namespace spillway::proxy {

struct Upstream;

class Circuits {
 public:
  // Leave to ask one server once. It ends once; with its object at the latest, and then as
  // `ignored`. Must not outlive its Circuits.
  class Call {
   public:
    Call() = default;
    Call(Call&& other) noexcept;
    Call& operator=(Call&& other) noexcept;
    ~Call() { ignore(); }

    // Neither has an effect if it was not allowed or has ended.
    void succeed() { end(resilience::CallResult::success, "success"); }
    void ignore() { end(resilience::CallResult::ignored, {}); }
    // Counted and, if it is the first for some time, logged. `detail`: what was wrong, if there is
    // more to say than the kind.
    void fail(observe::ServerFailure kind, std::string_view detail = {});
    bool allowed() const { return allowed_; }

   private:
    friend class Circuits;
    void end(resilience::CallResult result, std::string_view why);

    bool allowed_ = false;
    Circuits* circuits_ = nullptr;  // hears of its end
    std::size_t server_ = 0;
    resilience::CircuitBreaker::Call call_;
  };

  // `upstream` and `random` are referred to, and so is `log`, which hears of every circuit that
  // opens or closes, of every server that is ejected or back, and of failures (one of a kind and
  // server in ten seconds).
  Circuits(Upstream& upstream, Random& random, observe::Log& log);
  Circuits(const Circuits&) = delete;
  Circuits& operator=(const Circuits&) = delete;

  // 0: a server may be asked now. Otherwise how long to wait, at least, until one may.
  Milliseconds time_until_allowed() const;
  Call allow(std::size_t server);

  // What failed after the head of the response: counted and logged like a call that fails, but the
  // call has ended, and this is held against nobody.
  void count_failure(std::size_t server, observe::ServerFailure kind, std::string_view detail = {});

 private:
  void record(const Call& call, resilience::CallResult result, std::string_view why);
  void record_at_circuit(const Call& call, resilience::CallResult result, std::string_view why);
  void tell(observe::ServerEvent what, std::size_t server, std::string_view why);

  Upstream& upstream_;
  Random& random_;
  observe::Log& log_;
  std::deque<resilience::CircuitBreaker> breakers_;  // by server; empty: there are none
};

}  // namespace spillway::proxy

// An object that a worker's sweep visits every 50 ms: an active session, a background revalidation,
// an attempt of a job, an abandoned call, a tunnel or a visitor's event stream. The sweep runs only
// while all of them are parked.
#pragma once

#include <boost/intrusive/list.hpp>
#include <optional>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/request/owner/owned.hpp"

namespace spillway::proxy {

class Swept : public boost::intrusive::list_base_hook<>, public Owned {
 public:
  // A response head that an upstream owes, and since when.
  struct AwaitedHead {
    LocalGeneration* generation;
    UpstreamId upstream;
    RouteId route;
    TimePoint since;
  };

  // Reports that its visitor is still here (Stay), and ends a wait whose deadline has passed.
  // `this` may serve another connection afterwards.
  virtual void wake_if_late(TimePoint now) = 0;
  // The client's socket, if the wait ends when the client leaves; else -1.
  virtual int watched_client() = 0;
  virtual void client_left() = 0;
  virtual std::optional<AwaitedHead> awaited_head() const = 0;
  // Tells its slot, if it holds one, what it waits for. true: for its client, to send or to take
  // bytes.
  virtual bool mark_slot() { return false; }
  // Its request is pinned to this generation.
  virtual bool keeps_to(const Generation& generation) const = 0;
  // Ends the request as if its client had left, or else the next deadline had passed.
  virtual void end_early() = 0;
  // After the worker's loop has ended: destroys the suspended coroutine. Afterwards only the
  // destructor may be called.
  virtual void abandon() = 0;

 protected:
  ~Swept() = default;
};

}  // namespace spillway::proxy

// What a worker's sweep looks at every 50 ms: the sessions and the background revalidations that
// are under way. It runs only while all of them are parked.
#pragma once

#include <boost/intrusive/list.hpp>
#include <optional>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "proxy/generation/local_generation.hpp"

namespace spillway::proxy {

class Swept : public boost::intrusive::list_base_hook<> {
 public:
  // A response head that an upstream owes.
  struct AwaitedHead {
    LocalGeneration* generation;
    UpstreamId upstream;
    TimePoint since;
  };

  // Ends a wait whose deadline has passed. `this` may serve another connection afterwards.
  virtual void wake_if_late(TimePoint now) = 0;
  // The client's socket, if its leaving is to end the wait; else -1.
  virtual int watched_client() = 0;
  virtual void client_left() = 0;
  virtual std::optional<AwaitedHead> awaited_head() const = 0;
  // Its request keeps to this configuration.
  virtual bool keeps_to(const Generation& generation) const = 0;
  // Ends the request as if its client had left, or else the next deadline had passed.
  virtual void end_early() = 0;
  // The worker's loop has ended: drops what is under way, where it waits. Only the destructor may
  // follow.
  virtual void abandon() = 0;

 protected:
  ~Swept() = default;
};

}  // namespace spillway::proxy

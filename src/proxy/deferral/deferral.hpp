// Defers a request: takes the whole of it, has it written down, and answers 202 once it is durable.
//
// What is deferred: by a route's `defer`, the requests that would have been refused for want of
// room, all of them, or those that ask for it. Nothing of the request has been sent by then, so it
// is forwarded once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "jobs/prefer.hpp"
#include "proxy/call/upstream_call.hpp"
#include "proxy/deferral/job_follower.hpp"
#include "proxy/jobs/keys_in_flight.hpp"
#include "proxy/jobs/store_call.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/answer.hpp"
#include "proxy/request/body/request_body.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

class Deferral {
 public:
  Deferral(Services& services, const RequestContext& request, ClientSession& session,
           Parking& parking, RequestBody& body, UpstreamCall& call, KeyInFlight& key)
      : services_(services),
        request_(request),
        session_(session),
        parking_(parking),
        body_(body),
        call_(call),
        key_(key) {}
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;

  // The route has `defer`, and there is a store. Else nothing is deferred.
  bool is_configured() const { return defer() != nullptr; }
  // Before it is forwarded: whether it is to be. It asks the three questions below.
  enum class Turn : std::uint8_t {
    now,
    later,       // it is deferred whether there is room for it or not
    of_another,  // another request has its Idempotency-Key in hand
  };
  Task<Turn> turn();
  // The request is deferred whether there is room for it or not.
  bool comes_first() const;
  // It has an Idempotency-Key, and came to a route on which requests are told apart by it.
  bool has_key() const;
  // Before it is forwarded. The store is waited for a moment.
  enum class KeyState : std::uint8_t {
    free,     // nothing is known of it; from now on it is this request's alone
    of_job,   // of a job, which the client is to be told of although there is room
    in_hand,  // of another request that is being answered, or is on its way to the store
  };
  Task<KeyState> take_key();
  // It has the field of `order_by`, and came to a route on which jobs have an order.
  bool has_order() const;
  // Before it is forwarded: jobs of its order have not ended, which it must not overtake. The store
  // is waited for a moment; false if it does not answer.
  Task<bool> is_behind_jobs();
  // The fault is a refusal, and the request is deferred in its place.
  bool replaces(const Fault& fault) const;
  // Writes the request down. Returns DeferredRequest, or a fault: `refused` if the request cannot
  // be deferred, or the store's.
  Task<Answer> write_down(std::optional<Fault> refused);

  // It expired before it got a slot, and was not deferred. With `expire_policy` dead_letter it is
  // written down as dead, for the operator; nobody waits for that, and its client is answered as
  // without. Does nothing for other faults.
  void keep_expired(const Fault& fault);

  // RFC 7240 section 4.3: waits as long as the client wants to (`wait`) for the job to end. True:
  // it has, and its answer may be shown in place of the 202.
  Task<bool> wait_for_end();

  // After that, for the response: the job that stands for the request.
  const SeenJob& job() const { return job_; }
  // What the client asked for and is told to have got (RFC 7240 section 3), with the 202 and with
  // the answer itself; empty: nothing.
  std::string applied_to_202() const;
  std::string applied_to_answer() const;

 private:
  const config::Defer* defer() const;
  bool would_be_lost() const;
  bool may_be_deferred() const;
  bool has_form_to_defer() const;
  bool is_preferred() const;
  bool is_wished(const config::Defer& settings) const;
  bool is_letter(const Fault& fault) const;
  std::chrono::seconds longest_wait() const;
  Task<std::optional<Fault>> read_content(std::string& content, std::uint64_t most);
  Task<std::optional<store::Command>> ask(store::Command question);
  std::optional<jobs::Digest> order() const;
  std::string forwarded_head() const;
  std::optional<Fault> fill(jobs::NewJob& job, std::string content) const;
  std::optional<Fault> read_key(jobs::NewJob& job) const;
  Task<std::optional<Fault>> store(jobs::NewJob job);
  bool is_in_share() const;
  Task<std::optional<Fault>> see_job();
  std::string principal() const;
  void log_accepted(const jobs::NewJob& job) const;

  Services& services_;
  const RequestContext& request_;
  ClientSession& session_;
  Parking& parking_;
  RequestBody& body_;
  UpstreamCall& call_;
  KeyInFlight& key_;
  SeenJob job_;
  jobs::Preference preference_;
};

}  // namespace spillway::proxy

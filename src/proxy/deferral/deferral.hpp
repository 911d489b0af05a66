// Defers a request: reads all of it, has it stored, and answers 202 once it is durable.
//
// A route's `defer` names the requests to defer: those that would have been refused for lack of
// room, all of them, or those that ask for it. No byte of such a request has been sent by then, so
// it is forwarded only once.
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

  // The route has `defer`, and there is a store. Otherwise nothing is deferred.
  bool is_configured() const { return defer() != nullptr; }
  // Before it is forwarded: whether it should be. Asks the three questions below.
  enum class Turn : std::uint8_t {
    now,
    later,       // defer it whether there is room for it or not
    of_another,  // another request with its Idempotency-Key is in progress
  };
  Task<Turn> turn();
  // The request is deferred whether there is room for it or not.
  bool comes_first() const;
  // It has an Idempotency-Key, and its route tells requests apart by that key.
  bool has_key() const;
  // Before it is forwarded: takes its key. Waits for the store only briefly.
  enum class KeyState : std::uint8_t {
    free,     // not known; from now on only this request has it
    of_job,   // it belongs to a job, which is reported to the client although there is room
    in_hand,  // it belongs to another request that is in progress, or on its way to the store
  };
  Task<KeyState> take_key();
  // It has the field named by `order_by`, and jobs of its route have an order.
  bool has_order() const;
  // Before it is forwarded: whether jobs of its order have not ended, which it must not overtake.
  // Waits for the store only briefly; false if the store does not answer.
  Task<bool> is_behind_jobs();
  // The fault is a refusal, and the request is deferred instead.
  bool replaces(const Fault& fault) const;
  // Stores the request. Returns DeferredRequest, or a fault: `refused` if the request cannot be
  // deferred, or the fault of the store.
  Task<Answer> write_down(std::optional<Fault> refused);

  // The request expired before it got a slot, and was not deferred. With the `expire_policy`
  // dead_letter it is stored as a dead job, for the operator; no request waits for that, and its
  // client gets the same answer as without it. Does nothing for other faults.
  void keep_expired(const Fault& fault);

  // RFC 7240 section 4.3: waits as long as the client wants (`wait`) for the job to end. True: it
  // has ended, and its answer may be sent instead of the 202.
  Task<bool> wait_for_end();

  // After that, for the response: the job for this request.
  const SeenJob& job() const { return job_; }
  // The preferences that were applied (Preference-Applied, RFC 7240 section 3), for the 202 and for
  // the job's answer; empty: none.
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

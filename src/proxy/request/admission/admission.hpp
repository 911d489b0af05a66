// Whether and when a request may go to its upstream: verdict, ticket in the queue, slot.
//
// In shadow mode (overload.mode) requests are neither refused, delayed nor degraded; the decisions
// are counted and logged. Every request is forwarded at once, and its ghost takes its part at the
// gate (dispatch/scheduler/shadow_gate.hpp), so that signals and rules see the queue that enforcing
// would cause.
#pragma once

#include <cstdint>
#include <optional>

#include "base/outcome.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/decision_record.hpp"
#include "proxy/jobs/keys_in_flight.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/upstream/gate.hpp"

namespace spillway::proxy {

class Admission {
 public:
  Admission(Services& services, const RequestContext& request, Parking& parking);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();

  // --- The verdict.
  void decide();
  // After a wait for the client: judges by the plan in force now. False: the verdict stands.
  bool decide_again();
  const overload::Verdict& verdict() const { return verdict_; }
  const overload::DecisionRecord& record() const { return record_; }
  // The rule in force while the upstream is overloaded; null in state NORMAL.
  const config::Rule* overload_rule() const;
  // The rule that puts a stored or fallback response before a refusal; null: none does.
  const config::Rule* degrading_rule() const;
  // Replaces the verdict with that of `degrading`: a response that costs the upstream nothing takes
  // precedence over every refusal.
  void prefer(const config::Rule& degrading);
  // No degraded response of the verdict's mode is available. A fault if that refuses the request.
  std::optional<Fault> on_miss();
  // Refuses the request; nullopt in shadow mode, in which it goes on.
  std::optional<Fault> refuse(const Fault& fault);
  // Returns the budget's token: the upstream is not asked, or not on the account of this class.
  void give_back_token() { request_.upstream().budgets.give_back(verdict_.token); }
  // The request has been sent: its token is used.
  void use_token() { verdict_.token = {}; }

  // --- Degradation.
  enum class Degraded : std::uint8_t {
    no,
    answer,  // a stored or fallback response is sent
    work,    // the upstream is asked to skip expensive work (Spillway-Degrade)
  };
  bool is_degraded() const { return degraded_ != Degraded::no; }
  bool announces_degrade() const { return degraded_ == Degraded::work; }
  void set_degraded(Degraded degraded) { degraded_ = degraded; }
  // Marks it as degraded after all: a stored or fallback response replaces a failure or refusal.
  void degrade_for(Reason reason, config::DegradeMode mode);

  // --- The slot.
  // `arrived`: start of the wait at the gate. `uncounted`: time not held against the request (its
  // client sent its body, or another request fetched the response). `spent`: part of max_wait
  // already used. Afterwards has_slot() or is_queued() holds, or a fault is returned.
  std::optional<Fault> enter_gate(TimePoint arrived, Duration uncounted, Duration spent);
  bool is_queued() const { return is_queued_; }
  Task<std::optional<Fault>> wait_in_queue();
  // In the background: takes a slot if one is free now.
  bool take_free_slot(TimePoint now);
  // In the background: waits for a slot that no client's request wants; with `goes_first` ahead of
  // the others that wait for one. Gives up at `until`, or when `parking` is woken for anything but
  // a slot.
  enum class SpareSlot : std::uint8_t { granted, gave_up };
  Task<SpareSlot> wait_for_spare_slot(TimePoint until, bool goes_first);
  bool has_slot() const { return static_cast<bool>(slot_); }
  bool holds_contended_slot() const { return slot_.is_contended(); }
  // Tells how scarce slots are (Slot).
  std::optional<resilience::SlotLoad> slot_contention() const { return slot_.contention(); }
  void set_slot_wait(SlotWait wait, Duration waited = {}) { slot_.set_wait(wait, waited); }
  void on_response_head(TimePoint now) { slot_.on_response_head(now); }
  // How fast its client has to be to keep the slot.
  resilience::SlotTerms slot_terms(const resilience::SlotLoad& load) const;
  // The upstream has served the request.
  void release_slot(TimePoint now);
  // The upstream was not asked: the slot and the token go to another request.
  void return_slot(TimePoint now) {
    give_back_token();
    slot_.release(now);
  }
  // No response has come by now: records that the route takes longer than that. A response that
  // still comes is not recorded.
  void record_unanswered(TimePoint now);
  // The request goes no further: hands its slot, if it has one, to the caller.
  [[nodiscard]] Slot abandon_slot(TimePoint now);
  // Keeps other requests with its Idempotency-Key from being sent meanwhile.
  KeyInFlight& key() { return key_; }
  // The response head came, `latency` after the upstream was asked (nullopt: the time says nothing
  // about the route).
  void on_answer(std::optional<Duration> latency, bool failed, TimePoint now);
  // Shadow mode, at the end: releases the ghost, unless release_slot() or abandon_slot() has.
  void end_shadow() { leave_shadow(false); }

  TimePoint dispatched() const { return dispatched_; }
  Duration uncounted() const { return uncounted_; }
  Duration waited() const { return waited_; }
  std::optional<Duration> queue_wait() const {
    return waited_ > Duration{0} ? std::optional(waited_) : std::nullopt;
  }
  // Its deadline or max_wait_ms passed before its dispatch (late: process_with_tag).
  bool is_late() const { return slot_ && ticket_.late; }
  // The outcome it would have had without shadow mode.
  std::optional<Outcome> shadow_outcome() const { return shadow_.outcome; }
  void set_shadow_outcome(Outcome outcome) { shadow_.outcome = outcome; }
  // Shadow mode: a stored or fallback response would replace a refusal.
  void set_answers_refusal(bool answers) { shadow_.answers_refusal = answers; }
  // The minimum Retry-After of a refusal, with jitter.
  Milliseconds retry_after();
  // The Retry-After that is sent to the client; for a shed request, a booked time of return.
  Milliseconds book_return(const Fault& fault);
  // The wait that was predicted for a shed request when it arrived at the gate.
  std::optional<Duration> predicted_wait(const Fault& fault) const;
  // The record, complete for the access log.
  const overload::DecisionRecord& complete_record();

 private:
  // In shadow mode: how the request would have ended.
  struct Shadow {
    std::optional<Outcome> outcome;
    bool is_refused = false;
    bool answers_refusal = false;  // with a degraded response
    Gate::Ghost* ghost = nullptr;  // takes its part at the gate
  };

  void judge(overload::TenantBudget* budget, TimePoint now);
  dispatch::Terms terms(Duration spent, TimePoint now) const;
  dispatch::Terms background_terms(TimePoint now) const;
  std::optional<Fault> on_gate_rejection(Reason reason);
  std::optional<Fault> on_queue_timeout();
  Fault by_ticket(Fault fault) const;
  std::optional<Fault> enter_shadow(Duration spent);
  void leave_shadow(bool served);
  void count_offered();
  void record_offer(const dispatch::Offer& offer);
  void on_slot();
  void name_heavy_tenant(const overload::AdmissionPlan& plan);
  void keep_dead_letter(Reason reason);
  Gate& gate() const { return request_.upstream().gate; }

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  overload::Verdict verdict_;
  overload::DecisionRecord record_;
  Random draws_{0};  // gives the same numbers for each verdict on this request
  Ticket ticket_;
  Slot slot_;
  KeyInFlight key_;
  TimePoint dispatched_{};
  Duration waited_{};
  Duration uncounted_{};
  bool is_queued_ = false;
  Shadow shadow_;
  bool is_offered_ = false;   // counted as work for the upstream
  bool is_answered_ = false;  // by the upstream, or too late for its time to be recorded
  Degraded degraded_ = Degraded::no;
};

}  // namespace spillway::proxy

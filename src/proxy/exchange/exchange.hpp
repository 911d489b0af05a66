// One request and its answer, from head to observation: the coroutine that walks a request's life
// (exchange.cpp), what becomes of a verdict (admission.cpp), its body (request_body.cpp), its way
// to the upstream and back (forward.cpp, connect.cpp, response_head.cpp, relay.cpp), answers that
// need no upstream (stored.cpp, prepared.cpp), how they come to be stored (storing.cpp, flight.cpp,
// refresh.cpp), answers that stay open (long_lived.cpp) and what Spillway says itself (answer.cpp).
//
// An Exchange object serves one client connection while it is active, one request after the
// other, and is reused for others afterwards; it lives on one worker's thread.
#pragma once

#include <algorithm>
#include <array>
#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "cache/rules/cache_key.hpp"
#include "cache/store/filling.hpp"
#include "cache/store/response_cache.hpp"
#include "cache/store/single_flight.hpp"
#include "cache/store/stored_response.hpp"
#include "http/body.hpp"
#include "http/cache_control.hpp"
#include "http/cache_status.hpp"
#include "http/head.hpp"
#include "http/request_id.hpp"
#include "http/rewrite.hpp"
#include "http/scan.hpp"
#include "observe/worker_metrics.hpp"
#include "overload/decide.hpp"
#include "overload/decision_record.hpp"
#include "proxy/exchange/client_connection.hpp"
#include "proxy/exchange/fault.hpp"
#include "proxy/exchange/send_rate_monitor.hpp"
#include "proxy/exchange/tunnel.hpp"
#include "proxy/exchange/tunnel_permit.hpp"
#include "proxy/generation/local_generation.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/circuits.hpp"
#include "proxy/upstream/gate.hpp"
#include "proxy/upstream/upstream_pool.hpp"
#include "resilience/server_set.hpp"
#include "traffic/classify.hpp"

namespace spillway::proxy {

class Worker;

// A request's place among those who wait for an answer that another one is fetching.
struct SharedAnswer : cache::Follower, Letter {};

// Bodies up to this size are read before a slot is taken (and can be sent again); a refused
// request's body up to this size is read and discarded to keep the connection.
inline constexpr std::size_t kSmallBody = 64 * 1024;

class Exchange : public boost::intrusive::list_base_hook<> {
 public:
  explicit Exchange(Worker& worker);

  // Serves the requests that have arrived on the connection, until it is idle or closed. Gives
  // the object back to the worker at the end.
  Detached serve(ClientPtr client);

  // Asks the upstream again, in the background and for nobody, what `served` was just answered
  // with though it was stale. False, and nothing happens, when there is no room for that. Gives
  // the object back to the worker at the end.
  bool refresh(const Exchange& served);

  // When the worker's loop has ended: drops what is under way, where it waits. Only the
  // destructor may follow.
  void abandon();

  // For the sweep, which runs only while every exchange is parked:
  void wake_if_late(TimePoint now);
  // The client is waiting for us, so that its leaving is worth noticing.
  bool watches_client() const { return watches_client_ && !in_background_ && parking_.parked(); }
  int client_descriptor() { return client_->descriptor(); }
  void client_left() { parking_.wake(Wake::client_gone); }
  // It has had its time: as if its client had left or the next deadline had passed.
  void end_early();
  // Since when the upstream owes a response head; nullopt if it does not, or if its time would be
  // no sign of latency.
  std::optional<TimePoint> head_awaited_since() const {
    return head_awaited_since_ && !expects_long_answer() ? head_awaited_since_ : std::nullopt;
  }
  UpstreamId upstream_id() const { return subject_.upstream; }
  LocalGeneration& local() const { return *here_; }
  // An event stream keeps to no configuration once its head is out.
  bool keeps_to(const Generation& generation) const {
    return here_ && &here_->generation() == &generation;
  }

 private:
  // The phases of a request's life (exchange.cpp).
  Task<bool> read_head();
  Task<> handle();
  bool check_framing();
  void classify();
  void consult_store();
  bool admit();
  Task<> share_answer();
  Task<> ask_upstream();
  Task<bool> read_body();
  Task<bool> wait_for_slot();
  Task<bool> forward();
  Task<> relay();
  Task<> give_stored();
  Task<> give_prepared();
  Task<> answer();
  void observe();
  Task<bool> next_request();
  void finish();

  // Ends the request without a relayed response; always false, to be returned on.
  bool fail(const Fault& fault);
  bool failed() const { return failed_; }
  bool grow_head_block();
  std::string_view received_after_head() const {
    return {head_block_.bytes().data() + head_end_, received_ - head_end_};
  }
  std::string_view find_request_id();
  void begin_request(LocalGeneration& local);
  void let_go_of_generation();
  void reset_store_use();
  http::CacheStatus status_of_cache() const;
  void let_go_of_upstream();
  void plan_next_request(bool may_keep);
  std::size_t skippable_body();
  Task<> discard_input(std::size_t most, TimePoint deadline, bool until_closed);

  // What becomes of a verdict (admission.cpp).
  bool is_shadow() const;
  bool refuse(const Fault& fault);
  void name_heavy_tenant(const overload::AdmissionPlan& plan);
  void prefer_own_answer(const overload::AdmissionPlan& plan);
  bool degrade();
  bool skip_downstream();
  void answer_with_prepared();
  bool miss();
  dispatch::Terms terms(TimePoint arrived) const;
  Duration uncounted(Duration before_gate) const;
  bool refused_by_gate(Reason reason);
  bool waited_in_vain_for_slot();
  Milliseconds retry_after();
  void keep_dead_letter(Reason reason);
  void got_slot(const dispatch::Offer& offer);
  void release_slot(TimePoint now);
  void leave_ghost();
  bool release_ghost();
  Task<> await_ghost();
  bool is_logged();
  void log_access(Outcome outcome, Duration duration);

  // Answers that need no upstream (stored.cpp, prepared.cpp).
  cache::TenantInKey tenant_in_key() const;
  cache::Asked asked() const;
  void look_up();
  bool is_fresh_enough() const;
  bool may_give_stale() const;
  bool takes_stored(const overload::Verdict& verdict) const;
  bool may_give_while_revalidating() const;
  bool is_forwarded_unclearly() const;
  void plan_fetch();
  bool may_stand_in() const;
  bool has_own_answer(const config::Rule& rule);
  void answer_from_store();
  bool stand_in();
  bool takes_stored_instead();
  void confirm_stored();
  bool has_fallback() const;

  // How answers come to be stored (storing.cpp, flight.cpp, refresh.cpp).
  void begin_storing();
  bool shows_another() const;
  void store(std::string_view content);
  void finish_storing();
  void invalidate_stored();
  void end_stored_at(std::string_view path_and_query);
  void land(cache::Landing how);
  void leave_flight();
  Task<bool> await_landing();
  bool may_give_shared() const;
  Detached run_refresh();
  Task<bool> absorb();
  void end_refresh();
  std::string_view head() const {
    return {head_block_.bytes().data() + head_begin_, head_end_ - head_begin_};
  }

  // The way to the upstream (forward.cpp, retry.cpp, connect.cpp, response_head.cpp).
  enum class Attempt : std::uint8_t {
    done,    // the head of a response is there
    unsent,  // no connection, or one that broke before it took a byte
    broken,  // the connection broke before a byte of a response
    failed,  // nothing to be tried again
  };
  bool refused_by_circuits();
  bool fail_for_circuits(Milliseconds left);
  Task<bool> connect(bool fresh_only);
  Task<> reserve_connection();
  bool write_request_head();
  Task<bool> send_request();
  Task<Attempt> read_response_head();
  Task<bool> relay_interim();
  void end_call();
  void note_attempt(std::size_t server);
  Task<Attempt> attempt_upstream(TimePoint began);
  bool may_send_again(Attempt attempt) const;
  Task<bool> retry(Attempt attempt);
  bool has_untried_server() const;
  std::string_view find_traceparent();

  // How long it waits for the upstream (due.cpp).
  struct DeadlineTexts {
    traffic::DeadlineText request_deadline;
    traffic::DeadlineText grpc_timeout;
  };
  void set_due_times();
  TimePoint head_due() const { return std::min(answer_by_, response_due_); }
  TimePoint head_due(Milliseconds timeout) const;
  Fault out_of_time() const;
  bool tell_deadline(http::ForwardedRequest& with, DeadlineTexts& texts) const;

  // The way back (relay.cpp).
  bool may_use_pipe() const;
  bool write_response_head(bool dechunk);
  bool take_in_body(bool dechunk);
  void upstream_finished();
  Task<bool> send_to_client(std::string_view head, std::string_view body = {});
  bool client_dawdles(TimePoint now);

  // Answers that stay open (long_lived.cpp).
  void choose_upgrade();
  bool take_tunnel_place(observe::TunnelKind kind);
  bool is_event_stream() const;
  bool is_long_lived() const { return response_.status == 101 || is_event_stream(); }
  bool expects_long_answer() const;
  Task<> open_tunnel();
  bool begin_event_stream();
  void outlast_generation();
  void cut_event_stream(observe::TunnelEnd how);
  void end_event_stream();
  void record_result(bool is_failure);
  bool fail_within_answer(const Fault& fault);
  void count_success();

  // The request's body (request_body.cpp).
  std::optional<std::size_t> check_body(std::string_view received);
  std::size_t most_of_body();
  void keep_for_next_request(std::string_view next);
  enum class Pump : std::uint8_t { none, running, done, failed };
  Detached pump_body();
  Task<bool> pump_out(std::string_view bytes);
  void stop_pump();
  void pump_failed(const Fault& fault);
  resilience::MinRate body_rate() const;
  Fault late_body(const resilience::MinRate& rate);

  Worker& worker_;
  LocalGenerationPtr here_;  // the configuration that the request keeps to; null: it outlasts that
  std::coroutine_handle<> frame_;       // serve(), while this object serves
  std::coroutine_handle<> pump_frame_;  // pump_body(), while it is parked
  ClientPtr client_;                    // null in the background
  const ClientFacts* asker_ = nullptr;
  ClientFacts gone_asker_;  // of a refresh: who asked may have left
  Parking parking_;
  bool watches_client_ = false;
  Taking taking_;  // of the answer, by the client

  // The request.
  Block head_block_;          // head, then what was received after it
  std::size_t received_ = 0;  // bytes in the head block
  std::size_t head_begin_ = 0;
  std::size_t head_end_ = 0;  // where the head ends in it
  std::size_t consumed_ = 0;  // where the next request begins in it
  http::HeadScanner scanner_;
  http::RequestHead request_;
  traffic::Subject subject_;
  bool classified_ = false;
  TimePoint began_{};
  std::string_view upgrade_;  // the protocol that the upstream is asked to switch to
  std::string_view request_id_;
  std::array<char, http::kRequestIdSize> made_request_id_;
  std::array<char, http::kTraceparentSize> made_traceparent_;
  std::string_view traceparent_;  // once made
  Block body_block_;
  std::string_view body_;  // as much of it as is sent with the head; all of it unless pumped

  // Its admission.
  overload::Verdict verdict_;
  overload::DecisionRecord record_;
  enum class Source : std::uint8_t { upstream, store, prepared };
  Source source_ = Source::upstream;  // where the answer comes from
  bool is_degraded_ = false;
  bool announces_degrade_ = false;         // to the upstream, which may leave out what is expensive
  std::optional<Outcome> shadow_outcome_;  // how it would have ended, had this not been shadow mode
  Ticket ticket_;
  bool ghost_ = false;  // the ticket queues without the request, which is under way (shadow mode)
  Slot slot_;
  Duration waited_{};
  TimePoint dispatched_{};
  TimePoint answer_by_ = kNever;     // the request's deadline, if it ends the wait for a head
  TimePoint response_due_ = kNever;  // the end of the response, by total_timeout_ms
  bool awaits_head_ = false;
  std::optional<TimePoint> head_awaited_since_;  // the request has been sent, its answer is due

  // What is stored for it, if its route has a cache that may answer it.
  cache::ResponseCache* cache_ = nullptr;
  http::CacheControl wishes_;  // the request's own
  bool looked_up_ = false;
  bool is_unstorable_ = false;  // lately it was: nobody waits for it
  cache::CacheKey key_;         // once looked up
  cache::StoredPtr stored_;
  bool is_for_store_ = false;   // it asks the upstream for what the store lacks
  bool shares_answer_ = false;  // one request per key does that, the others wait for it
  bool stale_will_do_ = false;  // its rule takes what is stored even if it is stale
  SharedAnswer follower_;
  bool leads_ = false;           // others may be waiting for this one's answer
  bool has_followed_ = false;    // it waited for another's
  bool patience_spent_ = false;  // in vain: as if it had waited at the gate
  std::uint64_t flight_ = 0;     // of those who wait for the same
  std::optional<cache::Filling> filling_;
  bool wants_refresh_ = false;
  bool in_background_ = false;  // a refresh: there is no client to answer
  http::CacheStatus cache_status_;
  observe::CacheLookup lookup_ = observe::CacheLookup::bypass;

  // Its body, while it is streamed.
  Pump pump_ = Pump::none;
  bool body_is_streamed_ = false;
  http::BodyReader request_body_;
  Parking pump_parking_;
  Fault body_fault_;

  // The response.
  resilience::ServerSet tried_;  // servers asked in vain in this round, to be passed by
  UpstreamPtr upstream_;
  bool is_on_kept_connection_ = false;
  bool is_replaced_ = false;    // a kept connection turned out dead: this attempt is on a fresh one
  bool sent_any_ = false;       // of this attempt
  std::uint32_t attempts_ = 0;  // servers asked, one after the other; connections that failed count
  std::size_t asked_server_ = 0;  // the last of them
  std::uint32_t retries_ = 0;     // attempts besides the first, and pauses before them
  std::uint32_t pauses_ = 0;
  Circuits::Call call_;  // from connect() until it is known what came of it
  Block out_block_;      // the head sent on: to the upstream, then to the client
  std::string_view out_;
  Block in_block_;  // received from the upstream
  std::size_t in_received_ = 0;
  std::size_t in_sent_ = 0;   // of the block: gone to the client
  std::size_t in_valid_ = 0;  // of the block: checked, may go to the client
  http::ResponseHead response_;
  http::BodyReader response_body_;
  Pipe pipe_;  // between the connections, if the body is long
  bool upstream_done_ = false;
  TunnelPermit tunnel_place_;
  std::unique_ptr<Tunnel> tunnel_;  // both connections are its at the end
  bool is_stream_ = false;          // of events, and open
  observe::TunnelEnd stream_end_{};

  // How it ends.
  bool failed_ = false;
  Fault fault_;
  bool keep_client_ = false;       // the connection may carry another request
  bool response_started_ = false;  // bytes of a final response have gone to the client
  bool connection_broken_ = false;
  bool input_is_lost_ = false;  // bytes of a next request were read and could not be kept
  std::uint32_t requests_in_a_row_ = 0;
  bool is_observed_ = false;
  unsigned status_ = 0;
  std::uint64_t body_bytes_sent_ = 0;
};

}  // namespace spillway::proxy

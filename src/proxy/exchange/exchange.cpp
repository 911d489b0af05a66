#include "proxy/exchange/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "http/framing.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

Exchange::Exchange(Worker& worker)
    : worker_(worker),
      scanner_(http::HeadScanner::Kind::request,
               {.head_bytes = worker.local().config().limits.header_bytes}),
      request_body_({}, 0, http::BodyReader::Of::request),
      response_body_({}, 0, http::BodyReader::Of::response) {
  ticket_.home = &worker.mailbox;
  ticket_.parking = &parking_;
  follower_.home = &worker.mailbox;
  follower_.parking = &parking_;
}

// The life of a connection while it is active: request after request.
Detached Exchange::serve(ClientPtr client) {
  frame_ = co_await OwnFrame{};
  client_ = std::move(client);
  asker_ = &client_->facts();
  head_block_ = worker_.small_blocks.take();
  received_ = 0;
  keep_client_ = true;
  connection_broken_ = false;
  requests_in_a_row_ = 0;
  begin_request(worker_.local());
  for (bool more = true; more;) {
    const bool requested = co_await read_head();
    if (!requested) break;
    here_->metrics.accept();
    co_await handle();
    if (leads_) leave_flight();
    if (failed()) co_await answer();
    if (ghost_ && !release_ghost()) co_await await_ghost();
    if (!is_observed_) observe();
    more = co_await next_request();
  }
  finish();
}

// The life of a request: each phase passes it on or fails it, and then it is answered.
Task<> Exchange::handle() {
  if (failed()) co_return;  // the head never became one
  if (!check_framing()) co_return;
  classify();
  consult_store();
  if (source_ == Source::upstream && !admit()) co_return;
  if (shares_answer_ && source_ == Source::upstream) co_await share_answer();
  if (source_ == Source::upstream && !failed()) co_await ask_upstream();
  if (failed() && !stand_in()) co_return;
  if (source_ == Source::store) co_await give_stored();
  if (source_ == Source::prepared) co_await give_prepared();
}

// The part of it that costs the upstream something.
Task<> Exchange::ask_upstream() {
  if (refused_by_circuits()) co_return;
  const bool body_read = co_await read_body();
  if (!body_read) co_return;
  const bool has_slot = co_await wait_for_slot();
  if (!has_slot) co_return;
  if (!upgrade_.empty() && !take_tunnel_place(observe::TunnelKind::upgrade)) co_return;
  const bool answered = co_await forward();
  if (answered && response_.status == 101) {
    co_await open_tunnel();
    co_return;
  }
  tunnel_place_ = {};
  if (!answered || takes_stored_instead()) co_return;
  co_await relay();
  end_event_stream();
}

// False when no request came: the connection is idle or ended.
Task<bool> Exchange::read_head() {
  TimePoint deadline = kNever;
  for (;;) {
    if (received_ > 0) {
      const http::Scan scan = scanner_.scan({head_block_.bytes().data(), received_});
      if (scan.state == http::Scan::State::complete) {
        head_begin_ = scan.begin;
        head_end_ = scan.end;
        const std::string_view head(head_block_.bytes().data() + scan.begin, scan.end - scan.begin);
        const http::Error error = http::parse_request(head, request_);
        if (error != http::Error::none) fail(bad_request(error));
        break;
      }
      if (scan.state == http::Scan::State::invalid) {
        fail(bad_request(scan.error));
        break;
      }
      if (received_ == head_block_.bytes().size() && !grow_head_block()) {
        fail(head_too_large());
        break;
      }
    }
    const IoResult result = client_->receive(head_block_.bytes().subspan(received_));
    if (result.status == IoResult::Status::done) {
      received_ += result.bytes;
      continue;
    }
    if (result.status != IoResult::Status::would_block) {
      keep_client_ = false;
      co_return false;
    }
    const bool whole_lines = received_ == 0 || head_block_.bytes()[received_ - 1] == '\n';
    if (!scanner_.started() && whole_lines) {  // an empty line, if that (RFC 9112 section 2.2)
      if (received_ > 0 && !client_->pardons_empty_line()) keep_client_ = false;
      received_ = 0;
      scanner_.reset();
      co_return false;
    }
    if (deadline == kNever) deadline = worker_.now() + here_->config().limits.header_timeout;
    const Wake wake = co_await parking_.park(deadline, &client_->readable());
    if (wake == Wake::timeout) {
      fail(request_timeout());
      break;
    }
  }
  began_ = worker_.now();
  client_->request_came();
  co_return true;
}

bool Exchange::check_framing() {
  http::Error error = http::request_framing(request_);
  if (error == http::Error::none && request_.framing.kind == http::Framing::Kind::length &&
      request_.framing.length > here_->config().limits.body_bytes) {
    error = http::Error::body_too_large;
  }
  if (error != http::Error::none) return fail(bad_request(error));
  return !request_.ends_here || fail(options_answered());
}

void Exchange::classify() {
  classified_ = true;
  subject_ = here_->generation().classifier.classify(request_, asker_->peer, began_);
  const traffic::DeadlineFields deadline = traffic::deadline_fields(request_.fields);
  if (deadline.any()) {
    const traffic::WallTime wall =
        deadline.is_unix_time() ? std::chrono::system_clock::now() : traffic::WallTime{};
    subject_.client = traffic::client_deadline(deadline, began_, wall);
  }
  here_->signals(subject_.upstream).record_offered();
  choose_upgrade();
}

bool Exchange::admit() {
  const overload::AdmissionPlan& plan = here_->plan(subject_.upstream);
  const overload::Asking asking{subject_.route, subject_.traffic_class, subject_.tenant.id};
  here_->tenants(subject_.upstream).record_offered(asking.traffic_class, asking.tenant);
  if (plan.tenants() != nullptr) name_heavy_tenant(plan);
  verdict_ = overload::decide(plan, here_->upstream(subject_.upstream).budgets, asking, began_,
                              worker_.random);
  using Kind = overload::Verdict::Kind;
  prefer_own_answer(plan);
  if (wishes_.only_if_cached && !takes_stored(verdict_)) return fail(only_if_cached());
  record_ = overload::record_of(asking, plan, verdict_);
  switch (verdict_.kind) {
    case Kind::allow:
    case Kind::allow_if_short_wait: return true;
    case Kind::degrade: return degrade();
    case Kind::deny: return refuse(denied(verdict_.reason, verdict_.retry_after));
    case Kind::drop: break;
  }
  return refuse(dropped(verdict_.reason));
}

Task<bool> Exchange::wait_for_slot() {
  const TimePoint arrived = body_block_ || has_followed_ ? worker_.now() : began_;
  dispatched_ = arrived;
  // Refused, had this not been shadow mode: it would take no place at the gate.
  if (shadow_outcome_ == Outcome::denied || shadow_outcome_ == Outcome::dropped) co_return true;
  Gate& gate = here_->upstream(subject_.upstream).gate;
  ticket_.delivered = false;
  ticket_.parking = &parking_;
  ticket_.state = dispatch::Waiter::State::idle;
  const dispatch::Offer offer = gate.enter(ticket_, terms(arrived), arrived);
  record_.predicted_wait = offer.predicted_wait;

  if (offer.kind == dispatch::Offer::Kind::refused) co_return refused_by_gate(offer.reason);
  if (offer.kind == dispatch::Offer::Kind::queued) {
    if (is_shadow()) {
      leave_ghost();
      co_return true;
    }
    watches_client_ = true;
    bool gone = false;
    while (!ticket_.delivered) {
      const Wake wake = co_await parking_.park(kNever);
      if (wake != Wake::client_gone || gone) continue;
      gone = true;
      // If it is too late to cancel, the ticket is on its way and must be waited for.
      if (gate.cancel(ticket_, worker_.now())) co_return fail(client_gone());
    }
    watches_client_ = false;
    dispatched_ = worker_.now();
    waited_ = dispatched_ - arrived;
    here_->signals(subject_.upstream).record_wait(waited_);
    if (ticket_.state != dispatch::Waiter::State::granted) co_return waited_in_vain_for_slot();
    slot_ = Slot(gate, subject_.traffic_class, dispatched_);
    if (gone) co_return fail(client_gone());
  } else {
    slot_ = Slot(gate, subject_.traffic_class, dispatched_);
    here_->signals(subject_.upstream).record_wait(Duration{0});
  }
  got_slot(offer);
  co_return true;
}

void Exchange::observe() {
  auto& metrics = here_->metrics;
  const Outcome outcome = failed()                   ? fault_.outcome
                          : is_degraded_             ? Outcome::degraded
                          : source_ == Source::store ? Outcome::cached
                                                     : Outcome::forwarded;
  const Duration duration = worker_.now() - began_;
  metrics.finish(subject_.route, subject_.traffic_class, outcome);
  metrics.request_duration(subject_.traffic_class, duration);
  if (status_ != 0) metrics.response(subject_.traffic_class, status_);
  if (outcome == Outcome::error) {
    metrics.error(subject_.traffic_class, fault_.reason);
  } else if (failed() && fault_.reason != Reason::none && outcome != Outcome::client_gone) {
    metrics.denied(subject_.traffic_class, fault_.reason);
  }
  if (outcome == Outcome::degraded)
    metrics.degraded(subject_.traffic_class, verdict_.mode, verdict_.reason);
  if (cache_status_.has_cache) metrics.cache_lookup(subject_.route, lookup_);
  if (shadow_outcome_) metrics.shadowed(subject_.traffic_class, *shadow_outcome_, record_.reason);
  // Of a request that its upstream never heard of, whoever ended it.
  here_->upstream(subject_.upstream).budgets.give_back(verdict_.token);
  if (is_logged()) log_access(outcome, duration);
}

// Gives the connection back to idleness, or ends it.
void Exchange::finish() {
  const ClientPtr client = std::move(client_);
  tunnel_place_ = {};
  let_go_of_generation();
  head_block_.release();
  body_block_.release();
  out_block_.release();
  in_block_.release();
  pipe_.release();
  if (tunnel_) {
    worker_.begin_tunnel(std::move(tunnel_), client);
  } else if (keep_client_ && !connection_broken_) {
    client->become_idle(worker_.now());
  } else {
    client->close();
  }
  worker_.end_exchange(*this);
}

void Exchange::begin_request(LocalGeneration& local) {
  let_go_of_generation();
  here_ = &local;
  if (client_) client_->recognise(here_->generation());
  scanner_.reset();
  head_end_ = consumed_ = 0;
  request_.fields.clear();
  request_.method = http::Verb::unknown;
  request_.host = request_.target = request_.path_and_query = request_.method_name = {};
  request_.framing = {};
  request_.keep_alive = request_.expect_continue = false;
  classified_ = false;
  subject_ = {};
  subject_.route = here_->generation().default_route();
  subject_.traffic_class = here_->config().default_route().traffic_class;
  subject_.upstream = here_->config().default_route().upstream;
  upgrade_ = {};
  tunnel_place_ = {};
  is_stream_ = is_observed_ = false;
  request_id_ = traceparent_ = {};
  body_block_.release();
  in_block_.release();
  pipe_.release();
  body_ = {};
  verdict_ = {};
  record_ = {};
  source_ = Source::upstream;
  is_degraded_ = announces_degrade_ = false;
  shadow_outcome_.reset();
  waited_ = {};
  head_awaited_since_.reset();
  watches_client_ = false;
  pump_ = Pump::none;
  body_is_streamed_ = false;
  awaits_head_ = false;
  input_is_lost_ = false;
  upstream_done_ = false;
  attempts_ = 0;
  failed_ = false;
  response_started_ = false;
  status_ = 0;
  body_bytes_sent_ = 0;
  taking_.begin(here_->config().limits.min_rate_bytes, here_->config().limits.idle_timeout);
}

// Whatever belongs to the last request's configuration goes before it does.
void Exchange::let_go_of_generation() {
  if (cache_status_.has_cache) reset_store_use();
  call_.ignore();
  here_.reset();
}

void Exchange::reset_store_use() {
  cache_ = nullptr;
  cache_status_ = {};
  lookup_ = observe::CacheLookup::bypass;
  wishes_ = {};
  looked_up_ = is_unstorable_ = is_for_store_ = shares_answer_ = stale_will_do_ = false;
  has_followed_ = patience_spent_ = wants_refresh_ = false;
  stored_.reset();
  filling_.reset();
}

bool Exchange::fail(const Fault& fault) {
  failed_ = true;
  fault_ = fault;
  watches_client_ = false;
  head_awaited_since_.reset();
  return false;
}

bool Exchange::grow_head_block() {
  if (head_block_.bytes().size() >= worker_.large_blocks.block_size()) return false;
  Block larger = worker_.large_blocks.take();
  std::memcpy(larger.bytes().data(), head_block_.bytes().data(), received_);
  head_block_ = std::move(larger);
  return true;
}

void Exchange::abandon() {
  // The coroutines stay suspended for good; what they hold goes with their frames.
  if (pump_parking_.parked()) pump_frame_.destroy();
  frame_.destroy();
  if (here_) here_->upstream(subject_.upstream).gate.cancel(ticket_, Clock::now());
  if (cache_ != nullptr) cache_->flights().leave(follower_);
  if (upstream_) upstream_->retire();
  if (client_) client_->close();
}

void Exchange::end_early() {
  if (watches_client()) {
    client_left();
  } else if (parking_.parked()) {
    parking_.wake(Wake::timeout);
  } else if (pump_parking_.parked()) {
    pump_parking_.wake(Wake::timeout);
  }
}

void Exchange::wake_if_late(TimePoint now) {
  if (parking_.parked() && parking_.deadline() <= now) {
    parking_.wake(Wake::timeout);  // `this` may serve another connection now
  } else if (parking_.parked() && taking_.deadline() <= now && client_dawdles(now)) {
    parking_.wake(Wake::client_gone);
  } else if (pump_parking_.parked() && pump_parking_.deadline() <= now) {
    pump_parking_.wake(Wake::timeout);
  }
}

}  // namespace spillway::proxy

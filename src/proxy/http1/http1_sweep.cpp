// What a worker's sweep does to a session (swept.hpp).
#include "proxy/http1/http1_session.hpp"

namespace spillway::proxy {

void Http1Session::wake_if_late(TimePoint now) {
  if (event_stream_ && event_stream_->report_stay(now)) {
    if (parking_.parked()) parking_.wake(Wake::timeout);
    return;
  }
  if (exchange_) exchange_->report_stay(now);
  mark_slot();  // the measure of how scarce slots are depends on it
  const std::optional<resilience::SlotLoad> wanted = update_slot_terms(now);
  if (parking_.parked() && parking_.deadline() <= now) {
    parking_.wake(Wake::timeout);
  } else if (parking_.parked() && rate_.deadline() <= now && abort_if_client_too_slow(now)) {
    parking_.wake(Wake::client_gone);
  } else if (wanted && parking_.parked() && rate_.keeps_slot_waiting() &&
             gives_slot_to_others(*wanted, now)) {
    // The session has been woken.
  } else if (parking_.parked() && sends_too_slowly_for_space(now)) {
    parking_.wake(Wake::cancelled);
  } else if (parking_.parked() && abort_if_too_slow_for_space(now)) {
    parking_.wake(Wake::client_gone);
  } else if (exchange_) {
    RequestBody& body = exchange_->body();
    const bool is_taken_back = wanted && !wanted->only_for_pauses && body.slot_deadline() <= now;
    is_taken_back ? body.take_slot_back() : body.wake_if_late(now);
  }
}

// Sets how fast the client has to be to keep its slot, by how scarce slots are now. Returns the
// load if others wait for the slot while the slot waits for its client.
std::optional<resilience::SlotLoad> Http1Session::update_slot_terms(TimePoint now) {
  if (!exchange_) return std::nullopt;
  RequestBody& body = exchange_->body();
  if (rate_.slot_deadline() == kNever && body.slot_deadline() == kNever) return std::nullopt;
  const std::optional<resilience::SlotLoad> load = exchange_->admission().slot_contention();
  const resilience::SlotTerms terms =
      exchange_->admission().slot_terms(load.value_or(resilience::SlotLoad{}));
  rate_.set_slot_terms(terms, client_->descriptor(), now);
  body.set_slot_terms(terms, now);
  load ? services_.slot_watch.begin(now) : rate_.end_round();
  return load;
}

// Other requests wait for the slot, and the slot waits for a client that should take its response.
// If there is room elsewhere for the rest of it, a client that takes nothing keeps its response,
// and the upstream is read to the end. Otherwise a client that is too slow loses both. Each waiter
// takes one slot back: it gets that slot at once. If a limit was lowered below the number of slots
// held, the slots above the limit are taken back too.
bool Http1Session::gives_slot_to_others(const resilience::SlotLoad& load, TimePoint now) {
  const resilience::SlotPause& pause =
      rate_.look_for_pause(load.waited, client_->descriptor(), now);
  const bool earns = load.only_for_pauses || rate_.slot_deadline() > now;
  if (earns && !pause.is_paused()) return false;
  if (exchange_->may_spill()) {
    exchange_->spill_soon();
    parking_.wake(Wake::timeout);
    return true;
  }
  if (earns && !pause.is_too_long(rate_.slot_terms())) return false;
  services_.gauges.slots_back_from_takers.add();
  parking_.wake(Wake::cancelled);
  return true;
}

// Whether the client sends its body too slowly to keep its disk space while other bodies find none.
bool Http1Session::sends_too_slowly_for_space(TimePoint now) {
  if (!exchange_) return false;
  const RequestBody& body = exchange_->body();
  if (body.space_deadline() > now || !body.keeps_space(now)) return false;
  services_.gauges.too_slow_bodies.add();
  return true;
}

// Resets the connection of a client that takes its response too slowly to keep its disk space.
bool Http1Session::abort_if_too_slow_for_space(TimePoint now) {
  if (!exchange_ || rate_.space_deadline() > now || !exchange_->keeps_space(now)) return false;
  if (rate_.earns_space(client_->descriptor(), now)) return false;
  services_.gauges.too_slow_takers.add();
  client_->abort();
  return true;
}

bool Http1Session::mark_slot() {
  if (!exchange_ || !exchange_->holds_slot()) return false;
  if (keeps_slot_waiting()) {
    exchange_->set_slot_wait(SlotWait::client);
    return true;
  }
  const std::optional<TimePoint> since = exchange_->head_awaited_since();
  const RequestContext& request = exchange_->request();
  const Duration waited = since ? services_.now() - *since : Duration{};
  const dispatch::QuietLatency& usual = request.generation->quiet_latency;
  const RouteId route = request.classification.route;
  const bool is_late = since && usual.is_late(route, waited);
  const bool is_delayed = since && usual.is_delayed(route, waited);
  exchange_->set_slot_wait(is_late      ? SlotWait::late
                           : is_delayed ? SlotWait::delayed
                                        : SlotWait::nothing,
                           waited);
  return false;
}

// Resets the connection of a client that receives its response too slowly. After a plain close the
// kernel would go on buffering the rest.
bool Http1Session::abort_if_client_too_slow(TimePoint now) {
  const SendRateMonitor::Verdict verdict = rate_.judge(client_->descriptor(), now);
  if (verdict == SendRateMonitor::Verdict::fast_enough) return false;
  if (verdict == SendRateMonitor::Verdict::too_slow) services_.gauges.too_slow_takers.add();
  client_->abort();
  return true;
}

Silence Http1Session::silence(TimePoint now) {
  if (!parking_.parked()) return {};
  if (silence_.at != Silence::At::nothing) return silence_;
  // An event stream is bounded by limits.tunnels instead.
  if (!exchange_ || event_stream_ || exchange_->holds_slot()) return {};
  const TimePoint body_due = exchange_->body().connection_deadline();
  if (body_due != kNever) return {Silence::At::body, body_due};
  const TimePoint still_since = rate_.still_since(client_->descriptor(), now);
  if (still_since == kNever) return {};
  return {Silence::At::response, still_since + kLongestClientStall};
}

void Http1Session::give_way(Silence::At at) {
  if (at == Silence::At::response) {
    client_->abort();
    parking_.wake(Wake::client_gone);
    return;
  }
  next_ = Next::closed;
  parking_.wake(Wake::cancelled);
}

int Http1Session::watched_client() {
  return parking_.watches_client() ? client_->descriptor() : -1;
}

std::optional<Swept::AwaitedHead> Http1Session::awaited_head() const {
  if (!exchange_) return std::nullopt;
  const std::optional<TimePoint> since = exchange_->head_awaited_since();
  if (!since) return std::nullopt;
  const RequestContext& request = exchange_->request();
  const auto& classification = request.classification;
  return AwaitedHead{request.generation.get(), classification.upstream, classification.route,
                     *since};
}

bool Http1Session::keeps_to(const Generation& generation) const {
  return exchange_ && &exchange_->request().generation->generation() == &generation;
}

void Http1Session::end_early() {
  if (parking_.watches_client()) {
    client_left();
  } else if (parking_.parked()) {
    parking_.wake(Wake::timeout);
  } else if (exchange_) {
    exchange_->body().end_early();
  }
}

Http1Session::CutOff Http1Session::cut_off() {
  if (event_stream_) return CutOff::event_stream;
  if (!exchange_) return CutOff::nothing;
  exchange_->log_unfinished();
  return CutOff::request;
}

void Http1Session::abandon() {
  // Destroys the suspended coroutines, and everything that their frames own.
  frame_.destroy();
  event_stream_.reset();
  exchange_.reset();
  if (client_) client_->close();
}

}  // namespace spillway::proxy

// Answers that stay open: a connection that switches to another protocol (a tunnel from then on),
// and event streams (relay.cpp). Admission holds for both as for any request. They give their slot
// back at the head, leave the upstream's connection budget, and say nothing about latency; what
// bounds their number is limits.tunnels. The request ends with the head, in metrics and log, too;
// what goes on keeps to no configuration.
#include <cstring>

#include "http/ascii.hpp"
#include "http/rewrite.hpp"
#include "http/upgrade.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kEventStream = "text/event-stream";

bool is_event_stream_type(std::string_view type) {
  return http::iequals(http::trim(type.substr(0, type.find(';'))), kEventStream);
}

}  // namespace

void Exchange::choose_upgrade() {
  if (!request_.upgrade) return;
  upgrade_ =
      http::offered_upgrade(request_, here_->config().routes[index(subject_.route)].upgrades);
}

// False, and the request has failed, when there is no place for one more.
bool Exchange::take_tunnel_place(observe::TunnelKind kind) {
  observe::TunnelCounts& counts = worker_.gauges().tunnels[index(kind)];
  TunnelPermits& places = worker_.tunnel_places();
  const bool draining = worker_.draining();
  if (draining || !places.try_take(here_->config().limits.tunnels)) {
    counts.asked[index(observe::TunnelResult::refused)].add();
    return fail(no_tunnel(draining ? Reason::draining : Reason::tunnel_limit, retry_after()));
  }
  tunnel_place_ = TunnelPermit(places, counts);
  return true;
}

bool Exchange::is_event_stream() const {
  if (request_.method != http::Verb::get || response_.status != 200) return false;
  const http::Field* const type = response_.fields.find(http::FieldId::content_type);
  return type != nullptr && is_event_stream_type(type->value);
}

// Until it is there nobody can tell how long it may take: a backend may hold a stream's head back
// until its first event.
bool Exchange::expects_long_answer() const {
  if (!upgrade_.empty()) return true;
  const http::Field* const accepts = request_.fields.find(http::FieldId::accept);
  return accepts != nullptr && request_.method == http::Verb::get &&
         is_event_stream_type(accepts->value);
}

// The upstream has switched protocols: passes its head on. Then serve() ends, and the tunnel goes
// on with both connections, for which this request and its configuration are over.
Task<> Exchange::open_tunnel() {
  here_->signals(subject_.upstream).record_result(false);
  count_success();
  upstream_->leave_pool();
  release_slot(Clock::now());
  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!http::write_switching_head(out, response_, upgrade_, find_request_id())) {
    out_block_ = worker_.large_blocks.take();
    out = TextWriter(out_block_.bytes());
    if (!http::write_switching_head(out, response_, upgrade_, find_request_id())) {
      fail(upstream_invalid(http::Error::head_too_large));
      co_return;
    }
  }
  const bool sent = co_await send_to_client(out.text());
  if (!sent) {
    connection_broken_ = true;
    fail(client_gone());
    co_return;
  }
  status_ = response_.status;
  tunnel_place_.open();
  tunnel_ = std::make_unique<Tunnel>(worker_, std::move(tunnel_place_), std::move(upstream_),
                                     here_->config().limits.tunnel_idle_timeout);
  if (in_valid_ < in_received_)
    tunnel_->keep_for_client({std::move(in_block_), in_valid_, in_received_});
  const std::string_view early = received_after_head();
  if (!early.empty()) {
    Block block = worker_.large_blocks.take();
    std::memcpy(block.bytes().data(), early.data(), early.size());
    tunnel_->keep_for_upstream({std::move(block), 0, early.size()});
  }
}

// Called with the response's head, before any of it is sent. False: there is no place.
bool Exchange::begin_event_stream() {
  if (!take_tunnel_place(observe::TunnelKind::event_stream)) return false;
  tunnel_place_.open();
  is_stream_ = true;
  stream_end_ = observe::TunnelEnd::finished;
  response_due_ = kNever;
  here_->signals(subject_.upstream).record_result(false);
  count_success();
  upstream_->leave_pool();
  release_slot(Clock::now());
  return true;
}

// Its head has gone out: the request is over, and only bytes go on. They must not keep a
// configuration from being cleared away, for hours perhaps.
void Exchange::outlast_generation() {
  observe();
  is_observed_ = true;
  if (!body_is_streamed_ && !ghost_) let_go_of_generation();
}

// The client has left, which is how most event streams end, or nothing has come for too long.
void Exchange::cut_event_stream(observe::TunnelEnd how) {
  stream_end_ = how;
  keep_client_ = false;
  connection_broken_ = true;
  client_->abort();
}

void Exchange::end_event_stream() {
  if (!is_stream_) return;
  tunnel_place_.end(failed() ? observe::TunnelEnd::broken : stream_end_);
}

// The answer is whole, or has begun and will last.
void Exchange::count_success() {
  here_->upstream(subject_.upstream).servers.count_success(upstream_->server());
}

// The server failed after the head of its answer. Of a stream that tells nobody but its client.
bool Exchange::fail_within_answer(const Fault& fault) {
  record_result(true);
  if (!is_stream_) {
    here_->circuits(subject_.upstream)
        .count_failure(upstream_->server(), *fault.failure, fault.cause);
  }
  return fail(fault);
}

// What the upstream made of the request. Of a long-lived answer that was told at its head.
void Exchange::record_result(bool is_failure) {
  if (!is_stream_) here_->signals(subject_.upstream).record_result(is_failure);
}

}  // namespace spillway::proxy

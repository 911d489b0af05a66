// What Spillway itself says to a client, and how a connection goes on after that.
#include <algorithm>
#include <cstring>
#include <limits>

#include "http/accept.hpp"
#include "http/problem.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {
// How long a closing connection is read from, so that the client sees the answer and not a reset.
constexpr Milliseconds kLinger{1000};
// So many pipelined requests may be answered before other connections have their turn.
constexpr std::uint32_t kRequestsInARow = 16;
}  // namespace

// The upstream will not be asked, or not be listened to any more.
void Exchange::let_go_of_upstream() {
  if (upstream_) upstream_->retire();
  upstream_.reset();
  if (pump_ == Pump::running) stop_pump();
  release_slot(worker_.now());
}

// Whether the connection goes on after an answer that does not come from the upstream, and where.
void Exchange::plan_next_request(bool may_keep) {
  keep_client_ = request_.keep_alive && may_keep && !worker_.draining();
  // What is in the body block has been read already and is not to be skipped again.
  const bool body_is_unread = !body_is_streamed_ && !body_block_;
  if (keep_client_ && body_is_unread) consumed_ = head_end_ + skippable_body();
  if (body_is_streamed_ || pump_ == Pump::failed) keep_client_ = false;
}

// What a refusal or a failure says of the cache. A refusal did not go on to the upstream.
http::CacheStatus Exchange::status_of_cache() const {
  if (fault_.only_stored) return {.has_cache = true, .detail = "miss"};
  if (fault_.outcome == Outcome::error) return cache_status_;
  return {.has_cache = cache_status_.has_cache};
}

// The answer to a request that failed: what Spillway says itself.
Task<> Exchange::answer() {
  let_go_of_upstream();
  if (response_started_) {  // too late for another answer: let nobody take it for complete
    client_->abort();
    connection_broken_ = true;
    co_return;
  }
  if (fault_.status == 0) {
    keep_client_ = false;
    connection_broken_ = true;
    co_return;
  }
  // An HTTP/1.0 client expects the end of the connection after an answer like ours.
  plan_next_request(request_.version >= 11 && !fault_.close);

  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  http::write_problem(
      out, {.status = fault_.status,
            .reason = fault_.reason,
            .class_name = classified_ ? here_->config().classes[index(subject_.traffic_class)].name
                                      : std::string_view{},
            .retry_after = fault_.retry_after,
            .request_id = find_request_id(),
            .detail = fault_.detail,
            .proxy_error = fault_.proxy_error,
            .date = worker_.date(),
            .html = http::prefers_html(request_.fields),
            .close = !keep_client_,
            .cache_status = status_of_cache(),
            .head_only = request_.method == http::Verb::head});
  status_ = fault_.status;
  const bool sent = co_await send_to_client(out.text());
  if (!sent) connection_broken_ = true;
}

// True when bytes of another request have been received already.
Task<bool> Exchange::next_request() {
  release_slot(worker_.now());
  if (upstream_) {
    upstream_->retire();
    upstream_.reset();
  }
  if (connection_broken_ || tunnel_) co_return false;
  if (!keep_client_) {
    const bool all_read = !failed() && source_ != Source::prepared && !input_is_lost_ &&
                          received_ == consumed_ && (!body_is_streamed_ || pump_ == Pump::done);
    if (!all_read) {
      client_->shutdown_send();
      // A refusal must stay cheap. An answer of the upstream ahead of the body is worth more.
      const bool is_own = failed() || source_ == Source::prepared;
      const std::size_t most = is_own ? kSmallBody : std::numeric_limits<std::size_t>::max();
      co_await discard_input(most, worker_.now() + kLinger, true);
    }
    co_return false;
  }
  if (consumed_ > received_) {  // the rest of a refused request's small body
    const std::size_t rest = consumed_ - received_;
    received_ = consumed_ = 0;
    co_await discard_input(rest, worker_.now() + here_->config().limits.idle_timeout, false);
    if (!keep_client_) co_return false;
  }
  received_ -= consumed_;
  if (received_ == 0) co_return false;
  std::memmove(head_block_.bytes().data(), head_block_.bytes().data() + consumed_, received_);
  begin_request(worker_.local());
  // A client that pipelines refused requests would otherwise keep the loop to itself (and, where
  // the compiler makes no tail calls, nest ever deeper).
  if (++requests_in_a_row_ % kRequestsInARow == 0) co_await Yield(worker_.loop());
  co_return true;
}

// The client's request id if it sent a valid one, else one made for it.
std::string_view Exchange::find_request_id() {
  if (!request_id_.empty()) return request_id_;
  const http::Field* sent = request_.fields.find("X-Request-Id");
  if (sent != nullptr && http::valid_request_id(sent->value)) {
    request_id_ = sent->value;
  } else {
    request_id_ = http::make_request_id(worker_.random, made_request_id_);
  }
  return request_id_;
}

// The size of the request's body, as far as it is worth skipping to keep the connection of a
// refused request. If it is not, the connection will be closed.
std::size_t Exchange::skippable_body() {
  const http::Framing& framing = request_.framing;
  if (framing.kind == http::Framing::Kind::none) return 0;
  if (framing.kind == http::Framing::Kind::length && framing.length <= kSmallBody &&
      !request_.expect_continue) {
    return framing.length;
  }
  http::BodyReader reader(framing, kSmallBody, http::BodyReader::Of::request);
  const std::string_view available = received_after_head();
  std::size_t size = 0;
  while (size < available.size() && !reader.done()) {
    const auto step = reader.read(available.substr(size));
    if (step.error != http::Error::none) break;
    size += step.consumed;
  }
  if (!reader.done()) keep_client_ = false;
  return size;
}

// Reads and forgets up to `most` bytes. The connection is not kept if they do not come.
Task<> Exchange::discard_input(std::size_t most, TimePoint deadline, bool until_closed) {
  const std::span<char> block = head_block_.bytes();
  while (most > 0) {
    const IoResult result = client_->receive(block.first(std::min(most, block.size())));
    if (result.status == IoResult::Status::done) {
      most -= result.bytes;
      if (most == 0) co_return;
    }
    if (result.status == IoResult::Status::done || result.status == IoResult::Status::would_block) {
      // Even if there is more to read: others have their turn, and the deadline is looked at.
      const Wake wake = co_await parking_.park(deadline, &client_->readable());
      if (wake == Wake::ready) continue;
    }
    if (!until_closed) keep_client_ = false;
    co_return;
  }
}

}  // namespace spillway::proxy

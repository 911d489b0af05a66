// The way back: the response's head and body to the client, with bounded memory.
//
// One 64 KiB block lies between the two connections. The upstream is read as long as the block has
// room, whether or not the client takes anything: a response that fits is read to its end at once
// and frees its slot, however slow the client is; a larger one is held back by the client's pace.
// What is long and need not be looked at goes through a pipe in place of the block, uncopied.
#include <algorithm>
#include <cstring>

#include "config/choices.hpp"
#include "http/rewrite.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {
// So many bytes must be left for a pipe to be worth its system calls.
constexpr std::uint64_t kWorthAPipe = 64 * 1024;
}  // namespace

Task<> Exchange::relay() {
  const Milliseconds upstream_timeout_ms =
      here_->upstream(subject_.upstream).config.response_timeout;
  const Milliseconds stream_timeout = here_->config().limits.tunnel_idle_timeout;
  response_body_ = http::BodyReader(response_.framing, http::BodyReader::kNoLimit,
                                    http::BodyReader::Of::response);
  upstream_done_ = response_body_.done();
  // HTTP/1.0 has no chunks (RFC 9112 section 7.1).
  const bool dechunk =
      request_.version == 10 && response_.framing.kind == http::Framing::Kind::chunked;
  keep_client_ = request_.keep_alive && !worker_.draining() && !dechunk &&
                 response_.framing.kind != http::Framing::Kind::until_close;
  begin_storing();
  if (!take_in_body(dechunk)) co_return;
  if (!upstream_done_ && is_event_stream() && !begin_event_stream()) co_return;
  // The rest of the body would be taken for the next request.
  if (upstream_done_ && body_is_streamed_ && pump_ != Pump::done) keep_client_ = false;
  if (!write_response_head(dechunk)) {
    fail(upstream_invalid(http::Error::head_too_large));
    co_return;
  }
  if (upstream_done_) upstream_finished();
  if (may_use_pipe()) pipe_ = worker_.pipes.take();

  const std::span<char> block = in_block_.bytes();
  std::string_view head = out_;
  const auto in_memory = [&] { return !head.empty() || in_sent_ < in_valid_; };
  for (int round = 1; !upstream_done_ || in_memory() || pipe_.size() > 0; ++round) {
    bool progress = false;
    if (in_memory() || pipe_.size() > 0) {
      const bool is_from_pipe = !in_memory();
      const IoResult result =
          is_from_pipe ? client_->send_from(pipe_)
                       : client_->send(head, {block.data() + in_sent_, in_valid_ - in_sent_});
      if (result.status == IoResult::Status::failed) {
        if (is_stream_) {
          cut_event_stream(observe::TunnelEnd::finished);
        } else {
          fail(client_gone());
        }
        co_return;
      }
      if (result.status == IoResult::Status::done) {
        response_started_ = true;
        status_ = response_.status;
        const std::size_t of_head = std::min(result.bytes, head.size());
        head.remove_prefix(of_head);
        if (!is_from_pipe) in_sent_ += result.bytes - of_head;
        body_bytes_sent_ += result.bytes - of_head;
        taking_.sent(result.bytes);
        progress = true;
        if (is_stream_ && head.empty() && !is_observed_) outlast_generation();
      }
      if (in_sent_ == in_valid_) in_sent_ = in_valid_ = in_received_ = 0;
    }
    const auto has_room = [&] { return pipe_ ? !pipe_.is_full() : in_received_ < block.size(); };
    if (!upstream_done_ && has_room()) {
      const IoResult result = pipe_ ? upstream_->receive_into(pipe_, response_body_.remaining())
                                    : upstream_->receive(block.subspan(in_received_));
      if (result.status == IoResult::Status::done) {
        if (pipe_) {
          response_body_.pass(result.bytes);
          upstream_done_ = response_body_.done();
        } else {
          in_received_ += result.bytes;
          if (!take_in_body(dechunk)) co_return;
        }
        progress = true;
      } else if (result.status != IoResult::Status::would_block) {
        const http::Error error = result.status == IoResult::Status::end
                                      ? response_body_.end_of_input()
                                      : http::Error::truncated;
        if (error != http::Error::none) {
          fail_within_answer(upstream_invalid(error));
          co_return;
        }
        upstream_done_ = true;
        progress = true;
      }
      if (upstream_done_) upstream_finished();
    }
    const bool to_send = in_memory() || pipe_.size() > 0;
    const bool to_read = !upstream_done_ && has_room();
    const bool more = to_send || to_read;
    // Who waits for this answer does not wait for its client.
    if (leads_ && !upstream_done_ && !to_read) land(cache::Landing::nothing);
    const bool had_its_turn = pipe_ || round % kRoundsInARow == 0;  // a pipe holds as much
    if (progress && (!more || !had_its_turn)) continue;

    watches_client_ = true;
    // While the request body is still on its way the upstream owes nothing; the pump has timeouts.
    const bool upstream_owes = to_read && pump_ != Pump::running && !is_stream_;
    const TimePoint now = worker_.now();
    const TimePoint patience = upstream_owes            ? now + upstream_timeout_ms
                               : is_stream_ && !to_send ? now + stream_timeout
                                                        : kNever;
    const TimePoint deadline = upstream_done_ ? patience : std::min(patience, response_due_);
    if (to_send) taking_.wait(client_->descriptor(), now);
    const Wake wake = co_await parking_.park(deadline, to_read ? &upstream_->readable() : nullptr,
                                             to_send ? &client_->writable() : nullptr);
    watches_client_ = false;
    if (to_send) taking_.stop(worker_.now());
    if (wake == Wake::ready && pump_ != Pump::failed) continue;
    const bool is_overdue = !upstream_done_ && worker_.now() >= response_due_;
    if (is_stream_ && wake == Wake::client_gone && client_->open()) {
      cut_event_stream(observe::TunnelEnd::finished);
    } else if (is_stream_ && wake == Wake::timeout && !to_send) {
      cut_event_stream(observe::TunnelEnd::idle);
    } else if (wake == Wake::timeout && (upstream_owes || is_overdue)) {
      upstream_owes ? fail_within_answer(upstream_stalled()) : fail(upstream_stalled());
    } else {
      fail(pump_ == Pump::failed ? body_fault_ : client_gone());
    }
    co_return;
  }
}

// Whether the rest of the body is long, and nobody looks at it on its way.
bool Exchange::may_use_pipe() const {
  return response_.framing.kind == http::Framing::Kind::length &&
         response_body_.remaining() >= kWorthAPipe && !filling_ && !is_stream_;
}

bool Exchange::write_response_head(bool dechunk) {
  const http::ForwardedResponse with{
      .client_version = request_.version,
      .keep_alive = keep_client_,
      .request_id = find_request_id(),
      .date = worker_.date(),
      .queue_wait = waited_ > Duration{0} ? std::optional(waited_) : std::nullopt,
      .dechunk = dechunk,
      .degraded = is_degraded_ ? config::name(verdict_.mode) : std::string_view{},
      .degraded_for = verdict_.reason,
      .cache_status = cache_status_};
  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!http::write_response_head(out, response_, with)) {
    out_block_ = worker_.large_blocks.take();
    out = TextWriter(out_block_.bytes());
    if (!http::write_response_head(out, response_, with)) return false;
  }
  out_ = out.text();
  return true;
}

// Checks what was received of the body since the last call and closes the gaps that chunk framing
// leaves when it is taken out. False: the body is broken.
bool Exchange::take_in_body(bool dechunk) {
  char* const block = in_block_.bytes().data();
  std::size_t checked = in_valid_;
  while (checked < in_received_ && !response_body_.done()) {
    const std::string_view rest(block + checked, in_received_ - checked);
    const auto step = response_body_.read(rest);
    if (step.error != http::Error::none) return fail_within_answer(upstream_invalid(step.error));
    if (filling_) store(step.payload);
    const std::string_view part = dechunk ? step.payload : rest.substr(0, step.consumed);
    if (!part.empty() && part.data() != block + in_valid_)
      std::memmove(block + in_valid_, part.data(), part.size());
    in_valid_ += part.size();
    checked += step.consumed;
  }
  upstream_done_ = response_body_.done();
  // Bytes after the end belong to nothing that was asked for.
  if (upstream_done_ && checked < in_received_) response_.keep_alive = false;
  in_received_ = in_valid_;
  return true;
}

// The response has been read to its end: the slot and the connection are free for others, though
// the client may still have to take its bytes.
void Exchange::upstream_finished() {
  const TimePoint now = worker_.now();
  record_result(response_.status >= 500);
  if (!is_stream_ && !says_failure(response_.status)) count_success();
  if (filling_) finish_storing();
  const bool request_complete = !body_is_streamed_ || pump_ == Pump::done;
  if (request_complete && response_.keep_alive && !is_stream_ &&
      response_.framing.kind != http::Framing::Kind::until_close && !worker_.draining()) {
    here_->pool(subject_.upstream).give_back(std::move(upstream_), now);
  } else {
    upstream_->retire();
    if (pump_ == Pump::running) stop_pump();
    if (!request_complete) keep_client_ = false;
  }
  upstream_.reset();
  release_slot(now);
}

Task<bool> Exchange::send_to_client(std::string_view head, std::string_view body) {
  while (!head.empty() || !body.empty()) {
    const IoResult result = client_->send(head, body);
    if (result.status == IoResult::Status::done) {
      const std::size_t of_head = std::min(result.bytes, head.size());
      head.remove_prefix(of_head);
      body.remove_prefix(result.bytes - of_head);
      body_bytes_sent_ += result.bytes - of_head;
      taking_.sent(result.bytes);
    } else if (result.status == IoResult::Status::failed) {
      co_return false;
    } else {
      taking_.wait(client_->descriptor(), worker_.now());
      const Wake wake = co_await parking_.park(kNever, &client_->writable());
      taking_.stop(worker_.now());
      if (wake == Wake::client_gone) co_return false;
    }
  }
  co_return true;
}

// A client that does not take its answer at the rate it should, or not at all, has its connection
// reset: closed, the kernel would go on holding what is left for it. For the sweep.
bool Exchange::client_dawdles(TimePoint now) {
  const Taking::Verdict verdict = taking_.judge(client_->descriptor(), now);
  if (verdict == Taking::Verdict::fast_enough) return false;
  if (verdict == Taking::Verdict::too_slow) worker_.gauges().too_slow_takers.add();
  client_->abort();
  return true;
}

}  // namespace spillway::proxy

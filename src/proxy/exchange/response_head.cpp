// The head of the response, and what comes before it.
#include <algorithm>
#include <cstring>

#include "http/framing.hpp"
#include "http/rewrite.hpp"
#include "http/upgrade.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace spillway::proxy {

namespace {
// More 1xx than this before the response are no progress but a flood.
constexpr int kMostInterim = 64;
// Received at once with the head: enough for most answers. What is longer may go through a pipe.
constexpr std::size_t kFirstRead = 32 * 1024;
}  // namespace

Task<Exchange::Attempt> Exchange::read_response_head() {
  const Milliseconds timeout = here_->upstream(subject_.upstream).config.response_timeout;
  std::span<char> block;
  in_received_ = 0;
  http::HeadScanner scanner(http::HeadScanner::Kind::response,
                            {.head_bytes = here_->config().limits.header_bytes});
  bool any = false;
  int interim = 0;
  for (;;) {
    if (pump_ == Pump::failed) {
      fail(body_fault_);
      co_return Attempt::failed;
    }
    if (in_received_ == 0) {
      // While the request body is still on its way the upstream owes nothing.
      const TimePoint deadline = pump_ == Pump::running ? head_due() : head_due(timeout);
      const Wake wake = co_await parking_.park(deadline, &upstream_->readable());
      if (wake == Wake::client_gone) fail(client_gone());
      if (wake == Wake::timeout) fail(out_of_time());
      if (failed()) co_return Attempt::failed;
      // Who waits needs none, so that of many requests those use the same that are at work.
      if (!in_block_) in_block_ = worker_.large_blocks.take();
      block = in_block_.bytes();
    }
    const IoResult result = upstream_->receive(
        block.subspan(in_received_, std::min(block.size() - in_received_, kFirstRead)));
    if (result.status == IoResult::Status::would_block) {
      if (in_received_ == 0) continue;
      const Wake wake = co_await parking_.park(head_due(timeout), &upstream_->readable());
      if (wake == Wake::client_gone) fail(client_gone());
      if (wake == Wake::timeout) fail(out_of_time());
      if (failed()) co_return Attempt::failed;
      continue;
    }
    if (result.status != IoResult::Status::done) {
      if (!any) co_return Attempt::broken;
      fail(upstream_invalid(http::Error::truncated));
      co_return Attempt::failed;
    }
    any = true;
    in_received_ += result.bytes;

    http::Scan scan;
    while ((scan = scanner.scan({block.data(), in_received_})).state ==
           http::Scan::State::complete) {
      http::Error error = http::parse_response({block.data(), scan.end}, response_);
      if (error == http::Error::none) error = http::response_framing(response_, request_.method);
      const bool switches = response_.status == 101;
      if (error == http::Error::none && switches &&
          (upgrade_.empty() || !http::switches_to(response_, upgrade_)))
        error = http::Error::bad_status_line;
      if (error != http::Error::none) {
        fail(upstream_invalid(error));
        co_return Attempt::failed;
      }
      if (switches || response_.status >= 200) {
        in_sent_ = in_valid_ = scan.end;
        co_return Attempt::done;
      }
      if (++interim > kMostInterim) {
        fail(upstream_invalid(http::Error::head_too_large));
        co_return Attempt::failed;
      }
      const bool passed_on = co_await relay_interim();
      if (!passed_on) {
        fail(client_gone());
        co_return Attempt::failed;
      }
      in_received_ -= scan.end;
      std::memmove(block.data(), block.data() + scan.end, in_received_);
      scanner.reset();
    }
    const bool full = in_received_ == block.size();
    if (scan.state == http::Scan::State::invalid || full) {
      fail(upstream_invalid(scan.error != http::Error::none ? scan.error
                                                            : http::Error::head_too_large));
      co_return Attempt::failed;
    }
  }
}

// Passes a 1xx on. It lies in the in block, which the caller moves on from.
Task<bool> Exchange::relay_interim() {
  if (request_.version == 10 || in_background_) co_return true;
  if (!out_block_) out_block_ = worker_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!http::write_interim_head(out, response_)) co_return true;  // optional to pass on
  const bool sent = co_await send_to_client(out.text());
  co_return sent;
}

}  // namespace spillway::proxy

#include "proxy/http1/http1_session.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "http/message/closing.hpp"
#include "proxy/net/block_writer.hpp"
#include "proxy/net/transfer.hpp"

namespace spillway::proxy {

namespace {
// Lingering close: how long input is still read, so that the client gets the response, not a reset.
constexpr Milliseconds kLinger{1000};
// The rest of the body of an answered request, if another request may follow: how long it may take
// in total, and how long no byte of it may come. NGINX has the same (lingering_time,
// lingering_timeout).
constexpr Milliseconds kAnsweredBody{30'000};
constexpr Milliseconds kAnsweredSilence{5000};
// Pipelined requests that are served before other connections get their turn.
constexpr std::uint32_t kMaxPipelined = 16;
}  // namespace

Http1Session::Http1Session(Services& services, const http::HeadLimits& limits)
    : services_(services), reader_(limits) {}

// The life of a connection while it is active: request after request.
Detached Http1Session::serve(ClientPtr client) {
  frame_ = co_await OwnFrame{};
  client_ = std::move(client);
  block_ = services_.small_blocks.take();
  reader_.start_connection();
  next_ = Next::keep;
  requests_in_a_row_ = 0;
  for (bool more = true; more;) {
    begin_request();
    Fault fault;
    const Head head = co_await read_head(fault);
    if (head == Head::none) break;
    Exchange& exchange = begin_exchange();
    co_await exchange.serve(head == Head::fault ? std::optional(fault) : std::nullopt);
    if (exchange.has_event_stream()) co_await serve_event_stream();
    exchange_.reset();
    if (next_ != Next::keep || has_unread_body()) co_await end_request();
    more = has_next_request();
    // Otherwise a client that pipelines refused requests would keep the loop to itself (and the
    // calls would nest ever deeper where the compiler makes no tail calls).
    if (more && ++requests_in_a_row_ % kMaxPipelined == 0) co_await Yield(services_.loop);
  }
  finish();
}

void Http1Session::begin_request() {
  // Without parentheses: the fields' block stays uninitialised.
  ::new (static_cast<void*>(&head_)) http::RequestHead;
  body_ = http::BodyReader({}, 0, http::BodyReader::MessageKind::request);
  is_body_started_ = is_input_lost_ = false;
  response_ = {};
  silence_ = {};
}

// Head::none: the connection is idle, or has ended.
Task<Http1Session::Head> Http1Session::read_head(Fault& fault) {
  using State = http::RequestReader::State;
  const Milliseconds timeout = services_.owner.newest_generation().config().limits.header_timeout;
  TimePoint head_since = kNever;
  for (;;) {
    const State state = reader_.next(block_.bytes());
    if (state == State::request) {
      const http::Error error = http::parse_request(reader_.head(block_.bytes()), head_);
      if (error == http::Error::none) co_return Head::request;
      fault = bad_request(error);
      co_return Head::fault;
    }
    if (state == State::invalid) {
      constexpr char kTlsHandshake = 22;  // the type of the first record
      const bool is_tls =
          reader_.error() == http::Error::bad_character && block_.bytes().front() == kTlsHandshake;
      fault = is_tls ? tls_on_plain_port() : bad_request(reader_.error());
    }
    if (state == State::full) {
      if (grow_block()) continue;
      fault = head_too_large();
    }
    if (state == State::invalid || state == State::full) co_return Head::fault;

    IoResult result = client_->receive(reader_.room(block_.bytes()));
    if (result.status == IoResult::Status::would_block) {
      if (state == State::empty) {
        if (reader_.bytes() > 0 && !client_->forgives_empty_line()) next_ = Next::close;
        reader_.drop_empty_lines();
        co_return Head::none;
      }
      const TimePoint now = services_.now();
      if (head_since == kNever) head_since = now;
      silence_ = {Silence::At::head, head_since + kLongestClientSilence};
      const Until until{.deadline = head_since + timeout};
      const Wake wake = co_await parking_.park(until, &client_->readable());
      if (wake != Wake::timeout && wake != Wake::cancelled) continue;
      fault = request_timeout();
      co_return Head::fault;
    }
    if (result.status != IoResult::Status::done) {
      next_ = Next::closed;
      co_return Head::none;
    }
    reader_.received(result.bytes);
  }
}

http::Error Http1Session::extract_cookies(const http::CookieFilter& is_taken) {
  const std::span<char> head = reader_.head_bytes(block_.bytes());
  const std::size_t taken = http::extract_cookies(head, head_.fields, is_taken);
  if (taken == 0) return http::Error::none;
  reader_.shorten_head(taken);
  ::new (static_cast<void*>(&head_)) http::RequestHead;
  return http::parse_request(reader_.head(block_.bytes()), head_);
}

bool Http1Session::grow_block() {
  if (block_.bytes().size() >= services_.large_blocks.block_size()) return false;
  Block larger = services_.large_blocks.take();
  std::memcpy(larger.bytes().data(), block_.bytes().data(), reader_.bytes());
  block_ = std::move(larger);
  return true;
}

Exchange& Http1Session::begin_exchange() {
  silence_ = {};
  client_->request_came();
  LocalGeneration& generation = services_.owner.newest_generation();
  client_->recognise(generation.generation());
  rate_.begin(generation.config().limits);
  return exchange_.emplace(services_, generation, *this, parking_, cache_key_);
}

// The stream goes on without its request, which would pin its configuration, perhaps for hours.
// Only a request whose body has not been sent completely stays.
Task<> Http1Session::serve_event_stream() {
  event_stream_.emplace(services_, *this, parking_, exchange_->take_event_stream());
  if (exchange_->body().is_sent()) exchange_.reset();
  co_await event_stream_->run();
  event_stream_.reset();
  // The rest of the body would be mistaken for the next request.
  if (exchange_ && !exchange_->body().is_sent()) close_after_response();
}

// Finishes a request that has been answered: usually there is nothing to do.
Task<> Http1Session::end_request() {
  if (successor_) co_return;
  if (next_ == Next::close) co_await close_lingering();
  if (next_ != Next::keep) co_return;
  const bool is_found = co_await skip_answered_body();
  if (!is_found) next_ = Next::closed;
}

// Bytes of another request have been received.
bool Http1Session::has_next_request() {
  return next_ == Next::keep && !successor_ && reader_.start_next(block_.bytes());
}

Task<> Http1Session::close_lingering() {
  const bool is_input_read = reader_.is_read_to_end() && !is_input_lost_ && body_.done();
  const http::Closing closing =
      http::closing_after({.is_own = response_.is_own, .is_input_read = is_input_read}, kSmallBody);
  if (!closing.lingers) co_return;
  client_->shutdown_send();
  co_await discard(closing.most_bytes, kLinger, kLinger);
}

bool Http1Session::has_unread_body() const {
  return reader_.missing() > 0 || (is_body_started_ && !body_.done());
}

// Skips the rest of the body of an answered request: it was refused, or the upstream did not wait
// for the body. False: the next request cannot be found, or the client takes too long.
Task<bool> Http1Session::skip_answered_body() {
  const config::Limits& limits = services_.owner.newest_generation().config().limits;
  const Duration without_bytes = std::min<Duration>(limits.idle_timeout, kAnsweredSilence);
  if (const std::size_t rest = reader_.missing(); rest > 0) {
    reader_.skipped_missing();
    const bool skipped = co_await discard(rest, kAnsweredBody, without_bytes);
    co_return skipped;
  }
  bool is_found = false;
  bool is_lost = services_.draining || body_.failed();
  if (!is_lost) {
    body_.relay_no_more();
    const Block block = services_.small_blocks.take();
    const auto receive = [this, room = block.bytes(), &is_lost] {
      const BodyPiece piece = receive_body(room);
      if (piece.status == BodyPiece::Status::would_block) return Discarded::nothing;
      is_lost = piece.status == BodyPiece::Status::invalid || is_input_lost_;
      if (piece.status != BodyPiece::Status::done || is_lost) return Discarded::failed;
      return body_.done() ? Discarded::all : Discarded::some;
    };
    is_found = co_await discard(receive, kAnsweredBody, without_bytes);
  }
  if (is_lost) co_await close_lingering();
  co_return is_found;
}

// Reads and discards the next `most` bytes.
Task<bool> Http1Session::discard(std::size_t most, Duration in_all, Duration without_bytes) {
  const auto receive = [this, most, block = block_.bytes()]() mutable {
    const IoResult result = client_->receive(block.first(std::min(most, block.size())));
    if (result.status == IoResult::Status::would_block) return Discarded::nothing;
    if (result.status != IoResult::Status::done) return Discarded::failed;
    most -= result.bytes;
    return most == 0 ? Discarded::all : Discarded::some;
  };
  const bool discarded = co_await discard(receive, in_all, without_bytes);
  co_return discarded;
}

// Reads and discards. False if the end does not arrive in time, or the session gives way.
template <class Receive>
Task<bool> Http1Session::discard(Receive receive, Duration in_all, Duration without_bytes) {
  const TimePoint began = services_.now();
  TimePoint last = began;
  silence_ = {Silence::At::answered, began};
  for (;;) {
    const Discarded discarded = receive();
    if (discarded == Discarded::all) co_return true;
    if (discarded == Discarded::failed) co_return false;
    if (discarded == Discarded::some) last = services_.now();
    // Parks even if there is input, so that other connections run and the deadline is checked.
    const Until until{.deadline = std::min(began + in_all, last + without_bytes)};
    const Wake wake = co_await parking_.park(until, &client_->readable());
    if (wake != Wake::ready) co_return false;
  }
}

// Makes the connection idle, hands it to its successor, or closes it.
void Http1Session::finish() {
  ClientPtr client = std::move(client_);
  block_.release();
  out_block_.release();
  if (successor_) {
    successor_.release()->start(std::move(client));
  } else if (next_ == Next::keep) {
    client->become_idle(services_.now());
  } else {
    client->close();
  }
  services_.owner.end(*this);
}

}  // namespace spillway::proxy

// HTTP/1 messages on a session's connection: the request's body, and responses.
#include <algorithm>
#include <cstring>
#include <optional>

#include "proxy/http1/http1_session.hpp"
#include "proxy/net/block_writer.hpp"

namespace spillway::proxy {

namespace {
constexpr std::size_t kSmallestRead = 1024;
}

BodyPiece Http1Session::start_body(std::uint64_t limit, std::string_view& at_hand) {
  is_body_started_ = true;
  body_ = http::BodyReader(head_.framing, limit, http::BodyReader::MessageKind::request,
                           exchange_->protected_fields());
  const std::string_view available = reader_.behind_head(block_.bytes());
  char* const begin = block_.bytes().data() + (available.data() - block_.bytes().data());
  const CheckedPiece checked = check_body(available, begin);
  at_hand = {begin, checked.piece.bytes};
  reader_.set_body_size(checked.consumed);
  return checked.piece;
}

// Writes the piece of the body that goes on to the upstream to `out` (http/message/body.hpp).
Http1Session::CheckedPiece Http1Session::check_body(std::string_view received, char* out) {
  CheckedPiece checked;
  while (checked.consumed < received.size() && !body_.done()) {
    const http::BodyReader::Step step = body_.rewrite(
        received.substr(checked.consumed), out != nullptr ? out + checked.piece.bytes : nullptr);
    if (step.error != http::Error::none) {
      checked.piece = {.status = BodyPiece::Status::invalid, .error = step.error};
      return checked;
    }
    checked.consumed += step.consumed;
    checked.piece.bytes += step.written;
  }
  return checked;
}

BodyPiece Http1Session::receive_body(std::span<char> into) {
  // With Content-Length no more bytes than the body has; of a chunked body no more than can be kept
  // if they turn out to be the next request.
  const bool is_counted = head_.framing.kind == http::Framing::Kind::length;
  const std::size_t most = is_counted
                               ? head_.framing.length - body_.content_bytes()
                               : std::max(reader_.room_behind_head(block_.bytes()), kSmallestRead);
  const std::span<char> room = into.subspan(body_.held());
  const IoResult result = client_->receive(room.first(std::min(room.size(), most)));
  if (result.status == IoResult::Status::would_block)
    return {.status = BodyPiece::Status::would_block};
  if (result.status != IoResult::Status::done) return {.status = BodyPiece::Status::client_gone};
  const std::string_view received(room.data(), result.bytes);
  const CheckedPiece checked = check_body(received, into.data());
  if (checked.piece.status != BodyPiece::Status::done) return checked.piece;
  const std::string_view next = received.substr(checked.consumed);
  if (!next.empty() && !reader_.keep_behind_head(block_.bytes(), next)) {
    is_input_lost_ = true;
    close_after_response();
  }
  return checked.piece;
}

bool Http1Session::dechunks(const http::Framing& framing) const {
  // HTTP/1.0 has no chunked coding (RFC 9112 section 7.1).
  return head_.version == 10 && framing.kind == http::Framing::Kind::chunked;
}

// Whether the connection ends with the response that is being written, because a client waits to be
// accepted.
bool Http1Session::makes_room() {
  if (next_ != Next::keep || has_unread_body()) return false;
  if (!services_.owner.ends_with_response(*client_, !reader_.is_read_to_end())) return false;
  is_input_lost_ = client_->has_input();  // bytes of another request are unread
  return true;
}

// `write(TextWriter&)` writes the head.
template <class Write>
bool Http1Session::start(unsigned status, const Write& write) {
  response_.pending =
      write_into_block(services_.small_blocks, services_.large_blocks, out_block_, write);
  response_.is_final = true;
  client_->response_came();
  response_.status = status;
  return !response_.pending.empty();
}

bool Http1Session::start_relayed(const http::ResponseHead& head, http::ForwardedResponse with) {
  response_.is_relayed = true;
  with.client_version = head_.version;
  with.dechunk = dechunks(head.framing);
  const bool ends_by_close = with.dechunk || head.framing.kind == http::Framing::Kind::until_close;
  if (!head_.keep_alive || services_.draining || ends_by_close || makes_room())
    close_after_response();
  with.keep_alive = next_ == Next::keep;
  return start(head.status,
               [&](TextWriter& out) { return http::write_response_head(out, head, with); });
}

bool Http1Session::start_cached(const http::StoredHead& head, bool not_modified,
                                http::ForwardedResponse with) {
  if (!head_.keep_alive || services_.draining || makes_room()) close_after_response();
  response_.is_relayed = false;
  with.client_version = head_.version;
  with.keep_alive = next_ == Next::keep;
  const unsigned status = head.part ? 206 : head.status;
  return start(not_modified ? 304 : status, [&](TextWriter& out) {
    return not_modified ? http::write_not_modified_head(out, head, with)
                        : http::write_stored_head(out, head, with);
  });
}

bool Http1Session::start_fallback(const http::FallbackHead& head, http::ForwardedResponse with) {
  plan_local_reply(head.content_length.has_value());
  with.client_version = head_.version;
  with.keep_alive = next_ == Next::keep;
  return start(head.status,
               [&](TextWriter& out) { return http::write_fallback_head(out, head, with); });
}

void Http1Session::start_problem(http::Problem problem, bool is_next_known) {
  // An HTTP/1.0 client expects the end of the connection after such a response.
  plan_local_reply(is_next_known && head_.version >= 11);
  problem.close = next_ != Next::keep;
  // A small block is large enough for any problem (http::kProblemRoom).
  std::optional<std::size_t> content;
  start(problem.status, [&](TextWriter& out) {
    content = http::write_problem(out, problem);
    return content.has_value();
  });
  response_.content = content.value_or(0);
}

// After a problem or fallback: decides whether the connection persists; finds the next request.
void Http1Session::plan_local_reply(bool may_keep) {
  response_.is_own = true;
  response_.is_relayed = false;
  const bool keeps = head_.keep_alive && may_keep && !services_.draining && next_ == Next::keep;
  const bool is_next_known = keeps && (is_body_started_ ? body_.done() : skip_body());
  if (!is_next_known || makes_room()) close_after_response();
}

// Finds where the next request begins, after an unread body. False if the body is too large to be
// skipped just to keep the connection.
bool Http1Session::skip_body() {
  const http::Framing& framing = head_.framing;
  if (framing.kind == http::Framing::Kind::none) return true;
  if (framing.kind == http::Framing::Kind::length && framing.length <= kSmallBody &&
      !head_.expect_continue) {
    reader_.set_body_size(framing.length);
    return true;
  }
  body_ = http::BodyReader(framing, kSmallBody, http::BodyReader::MessageKind::request);
  const CheckedPiece checked = check_body(reader_.behind_head(block_.bytes()), nullptr);
  reader_.set_body_size(checked.consumed);
  return checked.piece.status == BodyPiece::Status::done && body_.done();
}

IoResult Http1Session::send(std::string_view body) {
  const IoResult result = client_->send(response_.pending, body);
  if (result.status != IoResult::Status::done) return result;
  const std::size_t of_block = std::min(result.bytes, response_.pending.size());
  const std::size_t of_head = std::min(result.bytes, response_.pending.size() - response_.content);
  response_.pending.remove_prefix(of_block);
  response_.content = std::min(response_.content, response_.pending.size());
  response_.has_started = response_.has_started || response_.is_final;
  response_.body_bytes += result.bytes - of_head;
  rate_.sent(result.bytes);
  return {result.status, result.bytes - of_block};
}

IoResult Http1Session::send_from(Pipe& pipe) {
  const IoResult result = client_->send_from(pipe);
  if (result.status == IoResult::Status::done) {
    response_.body_bytes += result.bytes;
    rate_.sent(result.bytes);
  }
  return result;
}

void Http1Session::begin_client_turn(ItsSlot its_slot) {
  rate_.wait(client_->descriptor(), services_.now(), its_slot);
}

Task<bool> Http1Session::send_interim(const http::ResponseHead& head) {
  if (head_.version == 10) co_return true;  // HTTP/1.0 has no interim responses
  if (!out_block_) out_block_ = services_.small_blocks.take();
  TextWriter out(out_block_.bytes());
  if (!http::write_interim_head(out, head)) co_return true;  // passing it on is optional
  response_.pending = out.text();
  const bool sent = co_await send_beside_body(parking_, *this);
  co_return sent;
}

Task<ClientSession::Switched> Http1Session::send_switching(const http::ResponseHead& head,
                                                           const http::ForwardedSwitch& with) {
  response_.is_relayed = true;
  const auto write = [&](TextWriter& out) { return http::write_switching_head(out, head, with); };
  if (!start(head.status, write)) co_return Switched::head_too_large;
  const bool sent = co_await send_to_client(parking_, *this, {});
  co_return sent ? Switched::done : Switched::client_gone;
}

void Http1Session::hand_over(std::unique_ptr<Successor> successor) {
  successor_ = std::move(successor);
  successor_->keep_early(reader_.behind_head(block_.bytes()));
  // The successor may keep the connection for hours.
  if (client_->gives_way_since() != kNever) services_.owner.give_way_no_more(*client_);
}

void Http1Session::close_after_response() {
  if (next_ == Next::keep) next_ = Next::close;
}

void Http1Session::abort() {
  client_->abort();
  next_ = Next::closed;
}

}  // namespace spillway::proxy

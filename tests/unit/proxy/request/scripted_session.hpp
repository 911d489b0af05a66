// A client session that is not HTTP/1's, has no socket, and takes its bytes in turns of its own, as
// a stream of HTTP/2 would.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/reason.hpp"
#include "http/message/body.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/client/successor.hpp"

namespace spillway::proxy {

inline constexpr std::size_t kAnyNumber = std::string_view::npos;

// The heads of requests for /a, with these fields.
inline std::string get(std::string_view fields = {}) {
  return "GET /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}
inline std::string post(std::string_view fields) {
  return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

class ScriptedSession final : public ClientSession {
 public:
  // The body comes with receive(); `room`: so many bytes the client takes until take_more().
  ScriptedSession(std::string its_head, std::size_t room)
      : head_bytes_(std::move(its_head)), room_(room) {
    REQUIRE(http::parse_request(head_bytes_, head_) == http::Error::none);
  }

  // The client sends a piece of the body, takes bytes, leaves.
  void receive(std::string piece) {
    received_.push_back(std::move(piece));
    tell(readable_);
  }
  void leave() {
    is_gone_ = true;
    tell(readable_);
    tell(writable_);
  }
  void take_more(std::size_t bytes) {
    room_ += bytes;
    tell(writable_);
  }

  std::string problem{};      // the reason of the proxy's own response
  std::string sent{};         // of its body
  std::string degraded{};     // what is said of a response that is not whole
  bool has_head_room = true;  // for the head of a response of another
  bool is_next_known = true;
  std::vector<unsigned> interims{};  // the statuses that were passed on
  Parking* exchange = nullptr;       // where it waits for the client to take one; null: it does not
  enum class Connection : std::uint8_t { open, last_response, closed, aborted };
  Connection connection = Connection::open;
  int client_turns = 0;
  ItsSlot slot_in_turn = ItsSlot::is_used;  // in the last of them

  http::RequestHead& request() override { return head_; }
  const ClientInfo& client() const override { return client_; }
  std::string_view head_text() const override { return head_bytes_; }
  http::Error extract_cookies(const http::CookieFilter&) override { return http::Error::none; }

  BodyPiece start_body(std::uint64_t limit, std::string_view& at_hand) override {
    reader_.emplace(head_.framing, limit, http::BodyReader::MessageKind::request);
    if (received_.empty()) return {};
    first_piece_ = received_.front();
    received_.pop_front();
    at_hand = first_piece_;
    return check(first_piece_);
  }
  BodyPiece receive_body(std::span<char> into) override {
    if (is_gone_) return {.status = BodyPiece::Status::client_gone};
    if (received_.empty()) return {.status = BodyPiece::Status::would_block};
    const std::string piece = received_.front();
    received_.pop_front();
    REQUIRE(piece.size() <= into.size());
    std::copy(piece.begin(), piece.end(), into.begin());
    return check(piece);
  }
  bool is_body_complete() const override { return reader_->done(); }
  Source& readable() override { return readable_; }

  bool start_relayed(const http::ResponseHead& head, http::ForwardedResponse with) override {
    return has_head_room && start(head.status, with);
  }
  bool start_cached(const http::StoredHead& head, bool not_modified,
                    http::ForwardedResponse with) override {
    return has_head_room && start(not_modified ? 304 : head.status, with);
  }
  bool start_fallback(const http::FallbackHead& head, http::ForwardedResponse with) override {
    return has_head_room && start(head.status, with);
  }
  void start_problem(http::Problem its_problem, bool next_is_known) override {
    start(its_problem.status, {});
    problem = name(its_problem.reason);
    is_next_known = next_is_known;
  }
  bool dechunks(const http::Framing&) const override { return true; }  // HTTP/2 has no chunks

  IoResult send(std::string_view body) override {
    if (is_gone_) return {IoResult::Status::failed};
    if (room_ == 0) return {IoResult::Status::would_block};
    has_pending_head_ = false;
    has_started_ = status_ != 0;
    const std::size_t bytes = std::min(room_, body.size());
    if (room_ != kAnyNumber) room_ -= bytes;
    sent += body.substr(0, bytes);
    return {IoResult::Status::done, bytes};
  }
  IoResult send_from(Pipe& pipe) override {
    if (is_gone_) return {IoResult::Status::failed};
    if (room_ == 0) return {IoResult::Status::would_block};
    std::string bytes(std::min<std::size_t>(room_, pipe.size()), '\0');
    bytes.resize(pipe.read({bytes.data(), bytes.size()}));
    if (room_ != kAnyNumber) room_ -= bytes.size();
    sent += bytes;
    return {IoResult::Status::done, bytes.size()};
  }
  Source& writable() override { return writable_; }
  bool has_pending_head() const override { return has_pending_head_; }
  bool has_started() const override { return has_started_; }
  unsigned status() const override { return status_; }
  std::uint64_t body_bytes_sent() const override { return sent.size(); }
  void begin_client_turn(ItsSlot its_slot) override {
    ++client_turns;
    slot_in_turn = its_slot;
  }
  void end_client_turn() override {}

  Task<bool> send_interim(const http::ResponseHead& head) override {
    const unsigned status = head.status;
    has_pending_head_ = true;
    bool is_taken = !is_gone_;
    if (is_taken && exchange != nullptr) {
      const bool is_sent = co_await send_beside_body(*exchange, *this);
      is_taken = is_sent;
    }
    has_pending_head_ = false;
    if (is_taken) interims.push_back(status);
    co_return is_taken;
  }
  Task<Switched> send_switching(const http::ResponseHead&, const http::ForwardedSwitch&) override {
    co_return Switched::client_gone;
  }
  void give_up_after(Milliseconds) override {}
  void hand_over(std::unique_ptr<Successor>) override {}

  void close_after_response() override { connection = Connection::last_response; }
  void close_now() override { connection = Connection::closed; }
  void abort() override { connection = Connection::aborted; }
  bool is_open() const override { return connection < Connection::closed; }

 private:
  static void tell(Source& source) {
    if (source.parked != nullptr) source.parked->on_ready(source);
  }
  BodyPiece check(std::string_view piece) {
    for (std::size_t at = 0; at < piece.size();) {
      const http::BodyReader::Step step = reader_->read(piece.substr(at));
      if (step.error != http::Error::none)
        return {.status = BodyPiece::Status::invalid, .error = step.error};
      at += step.consumed;
    }
    return {.bytes = piece.size()};
  }
  bool start(unsigned status, const http::ForwardedResponse& with) {
    REQUIRE(status_ == 0);  // one response to a request
    status_ = status;
    degraded = with.degraded;
    has_pending_head_ = true;
    return true;
  }

  std::string head_bytes_;
  http::RequestHead head_;
  ClientInfo client_;
  std::deque<std::string> received_;
  std::string first_piece_;
  std::optional<http::BodyReader> reader_;
  Source readable_;
  Source writable_;
  std::size_t room_;
  unsigned status_ = 0;
  bool has_pending_head_ = false;
  bool has_started_ = false;
  bool is_gone_ = false;
};

}  // namespace spillway::proxy

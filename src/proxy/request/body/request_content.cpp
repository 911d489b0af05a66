// Reads the content of a body whose request is not sent now.
#include <algorithm>
#include <utility>

#include "http/message/body.hpp"
#include "proxy/request/body/request_body.hpp"

namespace spillway::proxy {

namespace {

// Collects the content from pieces of a body in the framing that its head names.
class ContentCollector {
 public:
  ContentCollector(const http::Framing& framing, std::string& content, std::uint64_t most)
      : reader_(framing, http::BodyReader::kNoLimit, http::BodyReader::MessageKind::request),
        is_chunked_(framing.kind == http::Framing::Kind::chunked),
        content_(content),
        most_(most) {}

  bool is_full() const { return content_.size() > most_; }
  // False: the framing is invalid, which the session has ruled out.
  bool add(std::string_view piece) {
    if (!is_chunked_) {
      append(piece);
      return true;
    }
    pending_ += piece;
    std::string_view rest = pending_;
    while (!rest.empty() && !reader_.done()) {
      const http::BodyReader::Step step = reader_.read(rest);
      if (step.error != http::Error::none) return false;
      if (step.consumed == 0) break;
      append(step.payload);
      rest.remove_prefix(step.consumed);
    }
    pending_.erase(0, pending_.size() - rest.size());
    return true;
  }

 private:
  void append(std::string_view bytes) {
    content_ += bytes.substr(0, most_ + 1 - std::min<std::uint64_t>(content_.size(), most_ + 1));
  }

  http::BodyReader reader_;
  bool is_chunked_;
  std::string& content_;
  std::uint64_t most_;
  std::string pending_;
};

}  // namespace

// The body goes into the spill, which bounds it, and from there into `content`. A complete body no
// longer counts then: it is passed on at once. If the spill has no room for the rest, it comes
// piece by piece, and meanwhile all of `content` counts.
Task<std::optional<Fault>> RequestBody::read_content(std::string& content, std::uint64_t most) {
  is_kept_ = true;
  if (!is_read_ahead_) {
    const std::optional<Fault> fault = co_await read_ahead();
    if (fault) co_return fault;
  }
  resilience::MinRate client_rate = rate();
  ContentCollector collector(request_.head.framing, content, most);
  bool is_valid = collector.add(at_hand_);
  if (!session_.is_body_complete()) {
    const std::optional<Fault> fault = co_await read_rest(client_rate);
    if (fault) co_return fault;
  }
  while (is_valid && !spill_.is_empty() && !collector.is_full()) {
    const std::string_view next = spill_.front();
    if (next.empty()) co_return local_shortage();
    is_valid = collector.add(next);
    spill_.sent(next.size());
  }
  const Block block = services_.large_blocks.take();
  std::uint64_t reserved = 0;
  while (is_valid && !session_.is_body_complete() && !collector.is_full()) {
    if (!spill_.reserve(content.size() - std::exchange(reserved, content.size())))
      co_return local_shortage();
    const BodyPiece piece = co_await receive(block.bytes(), client_rate, false);
    if (piece.status == BodyPiece::Status::would_block) co_return late(client_rate);
    if (piece.status == BodyPiece::Status::invalid) co_return bad_request(piece.error);
    if (piece.status == BodyPiece::Status::client_gone) co_return client_gone();
    is_valid = collector.add({block.bytes().data(), piece.bytes});
  }
  if (!is_valid) co_return bad_request(http::Error::bad_chunk);
  co_return std::nullopt;
}

Task<std::optional<Fault>> RequestBody::read_small(std::string& content, std::uint64_t most) {
  const http::Framing& framing = request_.head.framing;
  if (framing.kind == http::Framing::Kind::length && framing.length > most)
    co_return bad_request(http::Error::body_too_large);
  const std::optional<Fault> fault =
      co_await read_ahead(std::min(most, request_.limits().body_bytes));
  if (fault) co_return fault;
  std::optional<Fault> unread = co_await read_content(content, most);
  co_return unread;
}

std::optional<std::string> RequestBody::take_content(std::uint64_t most) {
  if (!has_any()) return std::string();
  if (!is_read_ahead_ || pump_ != Pump::none || !session_.is_body_complete()) return std::nullopt;
  std::string content;
  ContentCollector collector(request_.head.framing, content, most);
  bool is_valid = collector.add(at_hand_);
  while (is_valid && !spill_.is_empty() && !collector.is_full()) {
    const std::string_view next = spill_.front();
    if (next.empty()) return std::nullopt;
    is_valid = collector.add(next);
    spill_.sent(next.size());
  }
  if (!is_valid || collector.is_full()) return std::nullopt;
  return content;
}

}  // namespace spillway::proxy

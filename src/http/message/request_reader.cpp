#include "http/message/request_reader.hpp"

#include <cstring>

namespace spillway::http {

void RequestReader::start_connection() {
  received_ = begin_ = end_ = next_ = 0;
  scanner_.reset();
}

RequestReader::State RequestReader::next(std::span<const char> block) {
  if (received_ > 0) {
    const Scan scan = scanner_.scan({block.data(), received_});
    if (scan.state == Scan::State::complete) {
      begin_ = scan.begin;
      end_ = next_ = scan.end;
      return State::request;
    }
    if (scan.state == Scan::State::invalid) {
      error_ = scan.error;
      return State::invalid;
    }
    if (received_ == block.size()) return State::full;
  }
  const bool is_whole = received_ == 0 || block[received_ - 1] == '\n';
  return !scanner_.started() && is_whole ? State::empty : State::need_more;
}

void RequestReader::drop_empty_lines() {
  received_ = 0;
  scanner_.reset();
}

bool RequestReader::keep_behind_head(std::span<char> block, std::string_view next) {
  if (next.size() > room_behind_head(block)) return false;
  if (!next.empty()) std::memcpy(block.data() + end_, next.data(), next.size());
  next_ = end_;
  received_ = end_ + next.size();
  return true;
}

bool RequestReader::start_next(std::span<char> block) {
  received_ -= next_;
  if (received_ > 0) std::memmove(block.data(), block.data() + next_, received_);
  begin_ = end_ = next_ = 0;
  scanner_.reset();
  return received_ > 0;
}

}  // namespace spillway::http

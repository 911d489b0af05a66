#include "dispatch/scheduler/dead_letters.hpp"

#include <algorithm>

namespace spillway::dispatch {
namespace {

struct Text {
  std::string_view DeadLetter::*view;
  std::size_t most;
};

constexpr std::array<Text, 4> kTexts{{{&DeadLetter::method, DeadLetters::kMethodBytes},
                                      {&DeadLetter::path, DeadLetters::kPathBytes},
                                      {&DeadLetter::request_id, DeadLetters::kRequestIdBytes},
                                      {&DeadLetter::tenant, DeadLetters::kTenantBytes}}};

}  // namespace

DeadLetters::DeadLetters(std::size_t capacity) : ring_(capacity) {}

std::size_t DeadLetters::size() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(total_, ring_.size()));
}

void DeadLetters::record(const DeadLetter& letter) {
  const std::uint64_t number = total_++;
  if (ring_.empty()) return;
  Entry& entry = ring_[number % ring_.size()];
  entry.letter = letter;
  char* end = entry.bytes.data();
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const std::string_view text = (letter.*kTexts[i].view).substr(0, kTexts[i].most);
    end = std::copy(text.begin(), text.end(), end);
    entry.lengths[i] = static_cast<std::uint8_t>(text.size());
    entry.letter.*kTexts[i].view = {};
  }
}

DeadLetter DeadLetters::operator[](std::size_t i) const {
  const Entry& entry = ring_[(total_ - size() + i) % ring_.size()];
  DeadLetter letter = entry.letter;
  const char* text = entry.bytes.data();
  for (std::size_t t = 0; t < kTexts.size(); text += entry.lengths[t++])
    letter.*kTexts[t].view = {text, entry.lengths[t]};
  return letter;
}

}  // namespace spillway::dispatch

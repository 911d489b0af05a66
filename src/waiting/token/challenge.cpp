#include "waiting/token/challenge.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "waiting/terms/configured.hpp"

namespace spillway::waiting {

bool takes_work(const config::WaitingRoom& settings, const Token& stamp) {
  return settings.tickets.challenge.work_bits > 0 && stamp.user.is_nobody() &&
         stamp.priority <= priority_of(settings, {});
}

std::string_view name(Work work) {
  constexpr std::array<std::string_view, kWorkCount> kNames{"done", "missing", "wrong"};
  return kNames[static_cast<std::size_t>(work)];
}

unsigned zero_bits(const Sha256& digest) {
  unsigned bits = 0;
  for (const std::uint8_t byte : digest) {
    bits += static_cast<unsigned>(std::countl_zero(byte));
    if (byte != 0) break;
  }
  return bits;
}

Work check_work(const Challenge& challenge, std::string_view nonce) {
  if (nonce.empty()) return Work::missing;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (nonce.size() > kMostNonce || !std::ranges::all_of(nonce, is_digit)) return Work::wrong;
  const bool is_done = zero_bits(sha256(challenge.prefix().append(nonce))) >= challenge.work_bits;
  return is_done ? Work::done : Work::wrong;
}

}  // namespace spillway::waiting

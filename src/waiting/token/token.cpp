#include "waiting/token/token.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>

namespace spillway::waiting {

namespace {

constexpr std::size_t kSignature = 16;
constexpr std::size_t kUserAt = token_bytes(false, false) - kSignature;
constexpr std::size_t kMostSigned = kMostTokenBytes - kSignature;
constexpr std::size_t kLongestRoom = 64;
constexpr std::uint32_t kOfField = 0x8000'0000;
constexpr std::uint32_t kOfFirstPass = 0x4000'0000;

static_assert(TokenSecrets::kOverlap == TokenKeys::kAccepted);

std::int64_t key_number(Time now) {
  return std::chrono::floor<std::chrono::hours>(now.time_since_epoch()) / TokenKeys::kKeyUse;
}

std::uint8_t key_id(std::int64_t key, std::uint32_t secret) {
  return static_cast<std::uint8_t>(key + 64 * static_cast<std::int64_t>(secret - 1));
}

// Number of keys of that secret between the one with that id and the current one.
std::int64_t keys_since(std::uint8_t id, std::int64_t current, std::uint32_t secret) {
  return static_cast<std::uint8_t>(key_id(current, secret) - id);
}

void put(std::uint64_t value, std::span<std::uint8_t> to) {
  for (std::size_t n = to.size(); n-- > 0; value >>= 8) to[n] = static_cast<std::uint8_t>(value);
}

std::uint64_t get(std::span<const std::uint8_t> from) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : from) value = value << 8 | byte;
  return value;
}

void put_wish(const CarriedWish& carried, std::span<std::uint8_t> to) {
  put(carried.fingerprint, to.first(4));
  to[4] = carried.wish.type;
  for (std::size_t n = 0; n < kMostSizes; ++n) put(carried.wish.sizes[n], to.subspan(5 + 4 * n, 4));
  put(carried.wish.duration_ms, to.last(8).first(4));
  put(carried.wish.max_wait_ms, to.last(4));
}

CarriedWish get_wish(std::span<const std::uint8_t> from) {
  const auto number = [](std::span<const std::uint8_t> bytes) {
    return static_cast<std::uint32_t>(get(bytes));
  };
  CarriedWish carried{.fingerprint = number(from.first(4)), .wish = {.type = from[4]}};
  for (std::size_t n = 0; n < kMostSizes; ++n)
    carried.wish.sizes[n] = number(from.subspan(5 + 4 * n, 4));
  carried.wish.duration_ms = number(from.last(8).first(4));
  carried.wish.max_wait_ms = number(from.last(4));
  return carried;
}

// The optional parts of a token.
struct Parts {
  bool user = false;
  bool wish = false;

  std::size_t signed_bytes() const { return token_bytes(user, wish) - kSignature; }
};

// Covers the kind, the signed bytes, and the name of the room at the end. A user and a wish each
// flip a bit of the kind, so that no two layouts have the same text.
Sha256 signature(const HmacKey& key, char kind, Parts parts, std::span<const std::uint8_t> bytes,
                 std::string_view room) {
  std::array<char, 1 + kMostSigned + kLongestRoom> text;
  text[0] = static_cast<char>((parts.user ? 0x80 : 0) ^ (parts.wish ? 0x40 : 0) ^ kind);
  std::copy(bytes.begin(), bytes.end(), text.begin() + 1);
  const std::size_t named = std::min(room.size(), kLongestRoom);
  std::copy_n(room.begin(), named, text.begin() + 1 + static_cast<std::ptrdiff_t>(bytes.size()));
  return hmac_sha256(key, {text.data(), 1 + bytes.size() + named});
}

// The generation, or the priority.
std::uint32_t number_of(const Token& token) {
  if (token.kind != TokenKind::pass) return token.priority;
  return token.generation == 0 ? kOfFirstPass | token.priority : token.generation;
}

void set_number(Token& token, std::uint32_t number) {
  const bool is_later_pass = token.kind == TokenKind::pass && (number & kOfFirstPass) == 0;
  if (is_later_pass)
    token.generation = number;
  else
    token.priority = static_cast<Priority>(number);
}

// The half that is sent, and zeros: for comparison in constant time.
Sha256 half(const Sha256& whole) {
  Sha256 part{};
  std::copy_n(whole.begin(), 16, part.begin());
  return part;
}

HmacKey key_of(const HmacKey& secret, std::int64_t number) {
  std::array<char, 24> text{"waiting room key"};
  std::array<std::uint8_t, 8> digits;
  put(static_cast<std::uint64_t>(number), digits);
  std::copy(digits.begin(), digits.end(), text.begin() + 16);
  return hmac_sha256(secret, {text.data(), text.size()});
}

}  // namespace

HmacKey TokenKeys::draw_key(std::string_view room, Time start) const {
  const auto at = start.time_since_epoch().count();
  return hmac_sha256(secrets_.lasting,
                     "waiting room draw " + std::to_string(at) + " " + std::string(room));
}

UserKey TokenKeys::user_key(std::string_view room, char source, std::string_view name) const {
  std::string text = "waiting room user ";
  text.append(room).append(1, ' ').append(1, source).append(name);
  const Sha256 code = hmac_sha256(secrets_.lasting, text);
  UserKey user;
  std::copy_n(code.begin(), user.bytes.size(), user.bytes.begin());
  return user;
}

TokenText TokenKeys::write(const Token& token, std::string_view room, Time now) const {
  std::array<std::uint8_t, kMostTokenBytes> whole;
  const Parts parts{!token.user.is_nobody(), token.wish.has_value()};
  const std::size_t signed_bytes = parts.signed_bytes();
  const std::span<std::uint8_t> bytes = std::span(whole).first(signed_bytes + kSignature);
  const std::int64_t number = key_number(now);
  const bool is_early = secrets_.former && now < secrets_.since;
  const Signer signer = is_early ? former() : newest();
  bytes[0] = key_id(number, signer.number);
  std::copy(token.id.bytes.begin(), token.id.bytes.end(), bytes.begin() + 1);
  const std::uint32_t carrier = token.carrier == Carrier::field ? kOfField : 0;
  put(number_of(token) | carrier, bytes.subspan(17, 4));
  put(static_cast<std::uint64_t>(token.time.time_since_epoch().count()), bytes.subspan(21, 6));
  if (parts.user)
    std::copy(token.user.bytes.begin(), token.user.bytes.end(), bytes.begin() + kUserAt);
  if (token.wish) put_wish(*token.wish, bytes.first(signed_bytes).last(kWishBytes));
  const char kind = static_cast<char>(token.kind);
  const HmacKey key = key_of(*signer.secret, number);
  const Sha256 code = signature(key, kind, parts, bytes.first(signed_bytes), room);
  std::copy_n(code.begin(), kSignature, bytes.subspan(signed_bytes).begin());
  std::array<char, kMostTokenText> text;
  text[0] = kind;
  write_base64url(bytes, text.data() + 1);
  return TokenText({text.data(), 1 + base64url_size(bytes.size())});
}

std::optional<Token> TokenKeys::read(std::string_view text, std::string_view room, Time now) const {
  if (!TokenText::is_size(text.size())) return std::nullopt;
  std::array<std::uint8_t, kMostTokenBytes> whole;
  const auto is_of = [&](bool user, bool wish) { return text.size() == token_text(user, wish); };
  const Parts parts{is_of(true, false) || is_of(true, true),
                    is_of(false, true) || is_of(true, true)};
  const std::size_t signed_bytes = parts.signed_bytes();
  const std::span<std::uint8_t> bytes = std::span(whole).first(signed_bytes + kSignature);
  if (!read_base64url(text.substr(1), bytes)) return std::nullopt;
  const std::int64_t current = key_number(now);
  Signer signer = newest();
  std::int64_t keys = keys_since(bytes[0], current, signer.number);
  const bool is_former = keys > kFormerKeys && secrets_.accepts_former(now);
  if (is_former) {
    signer = former();
    keys = keys_since(bytes[0], current, signer.number);
  }
  if (keys > kFormerKeys) return std::nullopt;
  Sha256 sent{};
  std::copy_n(bytes.subspan(signed_bytes).begin(), kSignature, sent.begin());
  const HmacKey key = key_of(*signer.secret, current - keys);
  const Sha256 code = signature(key, text[0], parts, bytes.first(signed_bytes), room);
  if (!equal_in_constant_time(sent, half(code))) return std::nullopt;
  Token token;
  token.is_worn = keys == kFormerKeys || (is_former && now >= secrets_.since);
  token.kind = TokenKind(text[0]);
  std::copy_n(bytes.begin() + 1, token.id.bytes.size(), token.id.bytes.begin());
  const auto carried = static_cast<std::uint32_t>(get(bytes.subspan(17, 4)));
  const std::uint32_t number = carried & ~kOfField;
  if (carried != number) token.carrier = Carrier::field;
  set_number(token, number);
  token.time = Time(Milliseconds(static_cast<std::int64_t>(get(bytes.subspan(21, 6)))));
  if (parts.wish) token.wish = get_wish(bytes.first(signed_bytes).last(kWishBytes));
  if (parts.user)
    std::copy_n(bytes.begin() + kUserAt, token.user.bytes.size(), token.user.bytes.begin());
  return token;
}

}  // namespace spillway::waiting

// The signed tokens of a visitor: a stamp of its arrival, a ticket, or a pass; and the form field
// that takes an offered place. Signed (HMAC-SHA256, of which 128 bits are sent) together with the
// name of its waiting room, so that no token is valid in another one.
//
//     kind letter, base64url of: key 1, id 16, generation 4, time 6, user 0 or 16,
//     wish 0 or 45, signature 16 bytes
//
// The key's number is that of its half day, plus 64 times that of its secret: with two secrets and
// three half days no two keys have the same one.
//
// The first bit of the generation is the carrier's.
//
// The user is present if one was verified at the first contact, the wish in stamps and tickets of
// waiting rooms that hand out resources. Instead of the generation, a stamp and a ticket have the
// priority of their tier; so has a pass of generation 0, with the second bit set. All are signed:
// no visitor can change them.
//
// Anyone with the text has the place, so it is sent in a cookie or a header field, never in a URL.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/hmac.hpp"
#include "base/time.hpp"
#include "waiting/resources/resources.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"
#include "waiting/ticket/user_key.hpp"
#include "waiting/token/token_secrets.hpp"

namespace spillway::waiting {

// An offer belongs to the stamp with the same id, and is worthless without it.
enum class TokenKind : char { stamp = 's', ticket = 't', pass = 'p', offer = 'o' };

// How the visitor got the token. A pass in a cookie is renewed, and a copy of it is detected by its
// generation. A program without cookies may keep one token that it got in a header field: it is
// valid for as long as the session. No token for a field is made from one in a cookie.
enum class Carrier : std::uint8_t { cookie, field };

struct Token {
  TokenKind kind{};
  TicketId id;
  std::uint32_t generation = 0;  // of a pass
  Time time{};                   // stamp, ticket: arrival; pass: when this generation was issued
  Priority priority = 0;         // of a stamp, a ticket, or a pass of generation 0
  UserKey user{};                // its verified user, if any
  std::optional<CarriedWish> wish{};  // where resources are handed out
  // Set by read(): a former key or secret signed it, which may expire before its visitor's last
  // poll.
  bool is_worn = false;
  Carrier carrier = Carrier::cookie;

  bool operator==(const Token&) const = default;
  // Without the carrier, which matters to the proxy that is asked and not to the log.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.kind, self.id, self.generation, self.time, self.priority, self.user, self.wish);
  }
};

// The ticket for a stamp: `joined` decides its place, which is later than the arrival if a draw was
// over by then.
inline Token ticket_of(const Token& stamp, Time joined) {
  Token ticket = stamp;
  ticket.kind = TokenKind::ticket;
  ticket.time = std::max(stamp.time, joined);
  ticket.is_worn = false;
  return ticket;
}

// A pass for the same visitor, with its wish.
inline Token pass_of(const Token& token, std::uint32_t generation, Time issued) {
  const Priority priority = generation == 0 ? token.priority : Priority{0};
  Token pass{TokenKind::pass, token.id, generation, issued, priority, token.user, token.wish};
  pass.carrier = token.carrier;
  return pass;
}

// The ticket for a pass of generation 0 that came late; `joined` decides its place.
inline Token ticket_of_pass(const Token& pass, Time joined, Priority priority) {
  Token ticket{TokenKind::ticket, pass.id, 0, joined, priority, pass.user};
  ticket.carrier = pass.carrier;
  return ticket;
}

// How long a stamp may be turned into a ticket.
inline constexpr Milliseconds kStampLife{60000};
// The same if places are only offered: the visitor may take its time. After kStampLife the time at
// which the place is taken decides it.
inline constexpr Milliseconds kOfferLife{3600000};

// The stamp for a place that is taken now: within kStampLife with the time of the arrival, later
// with the present time, and none after `life`.
inline std::optional<Token> arrival_of(Token stamp, Time now, Milliseconds life) {
  const Milliseconds age = now - stamp.time;
  if (age > life) return std::nullopt;
  if (age > kStampLife) stamp.time = now;
  return stamp;
}

// The token, signed again, for a visitor that waits longer than its key is accepted.
inline std::optional<Token> renewal_of(Token token) {
  if (!std::exchange(token.is_worn, false)) return std::nullopt;
  return token;
}

// The form's half of an offer: not the stamp itself, which no script of the site may read.
inline Token offer_of(const Token& stamp) { return {TokenKind::offer, stamp.id, 0, stamp.time}; }

inline constexpr std::size_t kUserBytes = 16;
inline constexpr std::size_t kWishBytes = 4 + 1 + 4 * kMostSizes + 4 + 4;
constexpr std::size_t token_bytes(bool has_user, bool has_wish) {
  return 1 + 16 + 4 + 6 + (has_user ? kUserBytes : 0) + (has_wish ? kWishBytes : 0) + 16;
}
constexpr std::size_t token_text(bool has_user, bool has_wish) {
  return 1 + base64url_size(token_bytes(has_user, has_wish));
}
inline constexpr std::size_t kTokenText = token_text(false, false);  // without user and wish
inline constexpr std::size_t kMostTokenBytes = token_bytes(true, true);
inline constexpr std::size_t kMostTokenText = token_text(true, true);

// Stores its characters within the object.
class TokenText {
 public:
  TokenText() = default;
  // At most kMostTokenText characters.
  explicit TokenText(std::string_view text) : size_(std::min(text.size(), kMostTokenText)) {
    std::copy_n(text.begin(), size_, characters_.begin());
  }

  const char* data() const { return characters_.data(); }
  std::size_t size() const { return size_; }
  static bool is_size(std::size_t size) {
    return size == token_text(false, false) || size == token_text(true, false) ||
           size == token_text(false, true) || size == token_text(true, true);
  }

 private:
  std::array<char, kMostTokenText> characters_{};
  std::size_t size_ = 0;
};

// Signs and verifies tokens. A key is used for half a day and accepted for one more day; keys are
// derived from the secrets, so that nothing else is stored.
class TokenKeys {
 public:
  static constexpr std::chrono::hours kKeyUse{12};
  static constexpr std::int64_t kFormerKeys = 2;
  // A token signed at a key's first moment is accepted, and has to be kept, for this long; in the
  // last kKeyUse of it the token is signed again.
  static constexpr Milliseconds kAccepted = kKeyUse * (kFormerKeys + 1);

  explicit TokenKeys(const TokenSecrets& secrets) : secrets_(secrets) {}
  explicit TokenKeys(const HmacKey& secret) : TokenKeys(first_secrets(secret)) {}

  const TokenSecrets& secrets() const { return secrets_; }

  TokenText write(const Token& token, std::string_view room, Time now) const;
  // nullopt for any text that write() did not make for that waiting room within those keys' time:
  // verified before any of it is read.
  std::optional<Token> read(std::string_view text, std::string_view room, Time now) const;

  // The key of Start::draw: fixed for a room and a start as long as the lasting secret is kept.
  HmacKey draw_key(std::string_view room, Time start) const;

  // The key of a user by name and `source`, a letter: the same name from two sources is two users.
  // Fixed as long as the lasting secret is kept; another one in each room.
  UserKey user_key(std::string_view room, char source, std::string_view name) const;

 private:
  struct Signer {
    const HmacKey* secret = nullptr;
    std::uint32_t number = 0;  // of the secret
  };
  Signer newest() const { return {&secrets_.newest, secrets_.number}; }
  Signer former() const { return {&*secrets_.former, secrets_.number - 1}; }

  TokenSecrets secrets_;
};

}  // namespace spillway::waiting

// AES-256-GCM (NIST SP 800-38D), by OpenSSL, of single values. A sealed value is a random 96-bit
// nonce, the ciphertext and the 128-bit tag. Job and kind of the value are authenticated with it,
// so that it cannot take the place of another.
//
// Each job has a key of its own, made from the store's: under one key no more than 2^32 values may
// be sealed with random nonces (SP 800-38D section 8.3), which a store comes to have. What an
// earlier version sealed with the store's key itself is opened, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jobs/job_id.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// Of what it is the value.
enum class Sealed : std::uint8_t {
  head = 1,
  body = 2,
  answer_fields = 3,
  answer_body = 4,
  method = 5,
  target = 6,
  tenant = 7,
};

inline constexpr std::size_t kSealBytes = 12 + 16;  // by which it is longer

// The cipher itself; what it gives is made of nonce, ciphertext and tag. `about` is authenticated
// besides. A nonce is used once with a key: that is what seal() is for. Both throw where OpenSSL
// has no such cipher: cannot_seal() finds out.
using Nonce = std::array<char, 12>;
std::string aes_256_gcm(std::string_view plain, const Key& key, const Nonce& nonce,
                        std::string_view about);
// nullopt: not sealed with this key and this `about`, or altered.
std::optional<std::string> open_aes_256_gcm(std::string_view sealed, const Key& key,
                                            std::string_view about);

// HMAC-SHA-256 of the job's id and a text that says for what (NIST SP 800-108 section 4).
Key key_of_job(const Key& key, const jobs::JobId& job);

// nullopt: the system gives no random bytes.
std::optional<std::string> seal(std::string_view plain, const Key& key, const jobs::JobId& job,
                                Sealed kind);
// nullopt: not sealed with this key, for this job and as this kind, or altered.
std::optional<std::string> unseal(std::string_view sealed, const Key& key, const jobs::JobId& job,
                                  Sealed kind);

// The same as a text, for columns that are texts: "sealed2:" and base64, "sealed1:" if it is sealed
// with the store's key itself. No method, target or name that was stored before these were sealed
// begins like that: such a text opens as it is.
std::optional<std::string> seal_text(std::string_view plain, const Key& key, const jobs::JobId& job,
                                     Sealed kind);
std::optional<std::string> unseal_text(std::string_view text, const Key& key,
                                       const jobs::JobId& job, Sealed kind);

}  // namespace spillway::store

// Encrypts ("seals") single values with AES-256-GCM (NIST SP 800-38D), by OpenSSL. A sealed value
// is a random 96-bit nonce, the ciphertext and the 128-bit tag. The job and the kind of the value
// are authenticated too, so that it cannot replace another value.
//
// Each job has a key of its own, derived from the store's: with random nonces, at most 2^32 values
// may be sealed under one key (SP 800-38D section 8.3), and a store may exceed that. Values that an
// earlier version sealed with the store's key itself can be opened too.
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

// The kind of the value.
enum class Sealed : std::uint8_t {
  head = 1,
  body = 2,
  answer_fields = 3,
  answer_body = 4,
  method = 5,
  target = 6,
  tenant = 7,
};

inline constexpr std::size_t kSealBytes = 12 + 16;  // how much longer a sealed value is

// The cipher itself; its result consists of nonce, ciphertext and tag. `about` is additional
// authenticated data. A nonce must be used only once with a key: use seal() for that. Both throw if
// OpenSSL does not have this cipher: cannot_seal() finds out.
using Nonce = std::array<char, 12>;
std::string aes_256_gcm(std::string_view plain, const Key& key, const Nonce& nonce,
                        std::string_view about);
// nullopt: not sealed with this key and this `about`, or altered.
std::optional<std::string> open_aes_256_gcm(std::string_view sealed, const Key& key,
                                            std::string_view about);

// HMAC-SHA-256 of the job's id and a text that names the purpose (NIST SP 800-108 section 4).
Key key_of_job(const Key& key, const jobs::JobId& job);

// nullopt: the system provides no random bytes.
std::optional<std::string> seal(std::string_view plain, const Key& key, const jobs::JobId& job,
                                Sealed kind);
// nullopt: not sealed with this key, for this job and as this kind, or altered.
std::optional<std::string> unseal(std::string_view sealed, const Key& key, const jobs::JobId& job,
                                  Sealed kind);

// The same as a text, for text columns: "sealed2:" and base64, "sealed1:" if it is sealed with the
// store's key itself. No method, target or name stored before these were sealed starts like that:
// such a text is returned unchanged.
std::optional<std::string> seal_text(std::string_view plain, const Key& key, const jobs::JobId& job,
                                     Sealed kind);
std::optional<std::string> unseal_text(std::string_view text, const Key& key,
                                       const jobs::JobId& job, Sealed kind);

}  // namespace spillway::store

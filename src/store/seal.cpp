#include "store/seal.hpp"

#include <nettle/base64.h>
#include <nettle/gcm.h>
#include <nettle/memops.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/hmac.hpp"

namespace spillway::store {

namespace {

constexpr std::string_view kSealedText = "sealed2:";
constexpr std::string_view kFormerText = "sealed1:";  // as long
constexpr std::string_view kPurpose = "spillway: key of a job, 2:";

std::uint8_t* bytes(char* text) { return reinterpret_cast<std::uint8_t*>(text); }
const std::uint8_t* bytes(const char* text) { return reinterpret_cast<const std::uint8_t*>(text); }

bool fill_randomly(char* to, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::getrandom(to, size, 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);  // up to 256 bytes come at once
}

// What is authenticated with a value.
std::string about(const jobs::JobId& job, Sealed kind) {
  std::string text(job.bytes.begin(), job.bytes.end());
  return text += static_cast<char>(kind);
}

void begin(gcm_aes256_ctx& context, const Key& key, std::string_view nonce,
           std::string_view about) {
  gcm_aes256_set_key(&context, key.bytes.data());
  gcm_aes256_set_iv(&context, GCM_IV_SIZE, bytes(nonce.data()));
  gcm_aes256_update(&context, about.size(), bytes(about.data()));
}

}  // namespace

std::string aes_256_gcm(std::string_view plain, const Key& key, const Nonce& nonce,
                        std::string_view about) {
  std::string sealed(plain.size() + kSealBytes, '\0');
  std::copy(nonce.begin(), nonce.end(), sealed.begin());
  gcm_aes256_ctx context;
  begin(context, key, sealed, about);
  char* const text = sealed.data() + GCM_IV_SIZE;
  gcm_aes256_encrypt(&context, plain.size(), bytes(text), bytes(plain.data()));
  gcm_aes256_digest(&context, GCM_DIGEST_SIZE, bytes(text + plain.size()));
  return sealed;
}

std::optional<std::string> open_aes_256_gcm(std::string_view sealed, const Key& key,
                                            std::string_view about) {
  if (sealed.size() < kSealBytes) return std::nullopt;
  std::string plain(sealed.size() - kSealBytes, '\0');
  gcm_aes256_ctx context;
  begin(context, key, sealed, about);
  const char* const text = sealed.data() + GCM_IV_SIZE;
  gcm_aes256_decrypt(&context, plain.size(), bytes(plain.data()), bytes(text));
  std::array<std::uint8_t, GCM_DIGEST_SIZE> tag{};
  gcm_aes256_digest(&context, tag.size(), tag.data());
  if (memeql_sec(tag.data(), text + plain.size(), tag.size()) == 0) return std::nullopt;
  return plain;
}

Key key_of_job(const Key& key, const jobs::JobId& job) {
  std::string text(kPurpose);
  text.append(job.bytes.begin(), job.bytes.end());
  return Key{hmac_sha256(key.bytes, text)};
}

std::optional<std::string> seal(std::string_view plain, const Key& key, const jobs::JobId& job,
                                Sealed kind) {
  Nonce nonce{};
  if (!fill_randomly(nonce.data(), nonce.size())) return std::nullopt;
  return aes_256_gcm(plain, key_of_job(key, job), nonce, about(job, kind));
}

std::optional<std::string> unseal(std::string_view sealed, const Key& key, const jobs::JobId& job,
                                  Sealed kind) {
  const std::string said = about(job, kind);
  std::optional<std::string> plain = open_aes_256_gcm(sealed, key_of_job(key, job), said);
  if (!plain) plain = open_aes_256_gcm(sealed, key, said);  // of an earlier version
  return plain;
}

std::optional<std::string> seal_text(std::string_view plain, const Key& key, const jobs::JobId& job,
                                     Sealed kind) {
  const std::optional<std::string> sealed = seal(plain, key, job, kind);
  if (!sealed) return std::nullopt;
  std::string text(kSealedText.size() + BASE64_ENCODE_RAW_LENGTH(sealed->size()), '\0');
  std::copy(kSealedText.begin(), kSealedText.end(), text.begin());
  base64_encode_raw(text.data() + kSealedText.size(), sealed->size(), bytes(sealed->data()));
  return text;
}

std::optional<std::string> unseal_text(std::string_view text, const Key& key,
                                       const jobs::JobId& job, Sealed kind) {
  if (!text.starts_with(kSealedText) && !text.starts_with(kFormerText)) return std::string(text);
  text.remove_prefix(kSealedText.size());
  std::string sealed(BASE64_DECODE_LENGTH(text.size()), '\0');
  base64_decode_ctx context;
  base64_decode_init(&context);
  std::size_t size = sealed.size();
  const int is_base64 =
      base64_decode_update(&context, &size, bytes(sealed.data()), text.size(), text.data());
  if (is_base64 == 0 || base64_decode_final(&context) == 0) return std::nullopt;
  sealed.resize(size);
  return unseal(sealed, key, job, kind);
}

}  // namespace spillway::store

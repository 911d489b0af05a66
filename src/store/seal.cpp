#include "store/seal.hpp"

#include <nettle/base64.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "base/hmac.hpp"

namespace spillway::store {

namespace {

constexpr std::string_view kSealedText = "sealed2:";
constexpr std::string_view kFormerText = "sealed1:";  // the same length
constexpr std::string_view kPurpose = "spillway: key of a job, 2:";
constexpr std::size_t kNonceBytes = std::tuple_size_v<Nonce>;
constexpr int kTagBytes = static_cast<int>(kSealBytes - kNonceBytes);

std::uint8_t* bytes(char* text) { return reinterpret_cast<std::uint8_t*>(text); }
const std::uint8_t* bytes(const char* text) { return reinterpret_cast<const std::uint8_t*>(text); }

bool fill_randomly(char* to, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::getrandom(to, size, 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);  // up to 256 bytes are returned at once
}

// The additional authenticated data of a value.
std::string about(const jobs::JobId& job, Sealed kind) {
  std::string text(job.bytes.begin(), job.bytes.end());
  return text += static_cast<char>(kind);
}

struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// One per thread: OpenSSL looks up a cipher under a lock, and allocates for a context.
class Gcm {
 public:
  Gcm()
      : cipher_(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr)), context_(EVP_CIPHER_CTX_new()) {
    if (cipher_ == nullptr || context_ == nullptr) fail();
  }

  std::string seal(std::string_view plain, const Key& key, const Nonce& nonce,
                   std::string_view about) {
    std::string sealed(plain.size() + kSealBytes, '\0');
    std::copy(nonce.begin(), nonce.end(), sealed.begin());
    char* const text = sealed.data() + nonce.size();
    begin(key, nonce.data(), about, kSeals);
    update(text, plain);
    const bool is_done = end(text) && EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG,
                                                          kTagBytes, text + plain.size()) == 1;
    if (!is_done) fail();
    return sealed;
  }

  std::optional<std::string> open(std::string_view sealed, const Key& key, std::string_view about) {
    if (sealed.size() < kSealBytes) return std::nullopt;
    std::string plain(sealed.size() - kSealBytes, '\0');
    std::array<char, kTagBytes> tag{};
    std::copy_n(sealed.end() - kTagBytes, tag.size(), tag.begin());
    begin(key, sealed.data(), about, kOpens);
    update(plain.data(), sealed.substr(kNonceBytes, plain.size()));
    if (EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) != 1)
      fail();
    if (!end(plain.data())) return std::nullopt;
    return plain;
  }

 private:
  static constexpr int kSeals = 1, kOpens = 0;

  // The library is unusable, or there is no memory. Treating a value as altered instead would make
  // its job dead.
  [[noreturn]] static void fail() {
    throw std::runtime_error("OpenSSL does not give AES-256-GCM: " + error_text());
  }

  static std::string error_text() {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    return text.data();
  }

  void begin(const Key& key, const char* nonce, std::string_view about, int direction) {
    if (EVP_CipherInit_ex2(context_.get(), cipher_.get(), key.bytes.data(), bytes(nonce), direction,
                           nullptr) != 1)
      fail();
    update(nullptr, about);
  }

  // If `to` is null, `from` is additional authenticated data.
  void update(char* to, std::string_view from) {
    for (constexpr std::size_t kAtOnce = 1 << 30; !from.empty();) {
      const auto part = static_cast<int>(std::min(from.size(), kAtOnce));
      int written = 0;
      if (EVP_CipherUpdate(context_.get(), to == nullptr ? nullptr : bytes(to), &written,
                           bytes(from.data()), part) != 1)
        fail();
      if (to != nullptr) to += part;
      from.remove_prefix(static_cast<std::size_t>(part));
    }
  }

  // False: the tag does not match. The error is cleared, so that no later call reports it.
  bool end(char* text) {
    int written = 0;
    const bool is_right = EVP_CipherFinal_ex(context_.get(), bytes(text), &written) == 1;
    if (!is_right) ERR_clear_error();
    return is_right;
  }

  std::unique_ptr<EVP_CIPHER, FreeCipher> cipher_;
  std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> context_;
};

Gcm& gcm() {
  thread_local Gcm of_thread;
  return of_thread;
}

}  // namespace

std::string aes_256_gcm(std::string_view plain, const Key& key, const Nonce& nonce,
                        std::string_view about) {
  return gcm().seal(plain, key, nonce, about);
}

std::optional<std::string> open_aes_256_gcm(std::string_view sealed, const Key& key,
                                            std::string_view about) {
  return gcm().open(sealed, key, about);
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
  if (!plain) plain = open_aes_256_gcm(sealed, key, said);  // sealed by an earlier version
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

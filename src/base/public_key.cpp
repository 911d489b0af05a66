#include "base/public_key.hpp"

#include <nettle/asn1.h>
#include <nettle/base64.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/eddsa.h>
#include <nettle/rsa.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/sha256.hpp"

namespace spillway {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kCoordinate = 32;
constexpr std::size_t kFewestBits = 2048;
constexpr std::size_t kMostBits = 8 * kMostSignatureBytes;

class Integer {
 public:
  explicit Integer(Bytes bytes) {
    ::mpz_init(value_);
    ::mpz_import(value_, bytes.size(), 1, 1, 0, 0, bytes.data());
  }
  ~Integer() { ::mpz_clear(value_); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;

  mpz_srcptr get() const { return value_; }

 private:
  mpz_t value_;
};

class Rsa {
 public:
  Rsa(Bytes modulus, Bytes exponent) {
    ::rsa_public_key_init(&key_);
    ::mpz_set(key_.n, Integer(modulus).get());
    ::mpz_set(key_.e, Integer(exponent).get());
    is_good_ = ::rsa_public_key_prepare(&key_) == 1;
  }
  ~Rsa() { ::rsa_public_key_clear(&key_); }
  Rsa(const Rsa&) = delete;
  Rsa& operator=(const Rsa&) = delete;

  // A large exponent would make verification expensive; an even one is not a valid RSA exponent.
  bool is_good() const {
    const std::size_t bits = ::mpz_sizeinbase(key_.n, 2);
    return is_good_ && bits >= kFewestBits && bits <= kMostBits && mpz_odd_p(key_.n) != 0 &&
           mpz_odd_p(key_.e) != 0 && mpz_cmp_ui(key_.e, 3) >= 0 &&
           ::mpz_sizeinbase(key_.e, 2) <= 32;
  }
  bool has_signed(std::string_view text, Bytes signature) const {
    if (!is_good_ || signature.size() != key_.size) return false;
    const Sha256 digest = sha256(text);
    return ::rsa_sha256_verify_digest(&key_, digest.data(), Integer(signature).get()) == 1;
  }

 private:
  rsa_public_key key_;
  bool is_good_ = false;
};

class P256 {
 public:
  // Both coordinates.
  explicit P256(Bytes point) {
    ::ecc_point_init(&point_, ::nettle_get_secp_256r1());
    is_good_ = point.size() == 2 * kCoordinate &&
               ::ecc_point_set(&point_, Integer(point.first(kCoordinate)).get(),
                               Integer(point.last(kCoordinate)).get()) == 1;
  }
  ~P256() { ::ecc_point_clear(&point_); }
  P256(const P256&) = delete;
  P256& operator=(const P256&) = delete;

  bool is_good() const { return is_good_; }  // the point is on the curve
  bool has_signed(std::string_view text, Bytes signature) const {
    if (!is_good_ || signature.size() != 2 * kCoordinate) return false;
    dsa_signature both;
    ::dsa_signature_init(&both);
    ::mpz_set(both.r, Integer(signature.first(kCoordinate)).get());
    ::mpz_set(both.s, Integer(signature.last(kCoordinate)).get());
    const Sha256 digest = sha256(text);
    const bool is_its = ::ecdsa_verify(&point_, digest.size(), digest.data(), &both) == 1;
    ::dsa_signature_clear(&both);
    return is_its;
  }

 private:
  ecc_point point_;
  bool is_good_ = false;
};

// The fixed DER prefix before the key itself (RFC 5480 section 2, RFC 8410 section
// 4).
constexpr std::array<std::uint8_t, 27> kBeforePoint{
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
    0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
constexpr std::array<std::uint8_t, 12> kBeforeEd25519{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                                      0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

std::vector<std::uint8_t> bytes_of(mpz_srcptr number) {
  std::vector<std::uint8_t> bytes((::mpz_sizeinbase(number, 2) + 7) / 8);
  ::mpz_export(bytes.data(), nullptr, 1, 1, 0, 0, number);
  return bytes;
}

// The bytes after the prefix `before`, if there are exactly `size` of them.
std::optional<Bytes> rest_of(Bytes der, Bytes before, std::size_t size) {
  if (der.size() != before.size() + size || !std::ranges::equal(der.first(before.size()), before))
    return std::nullopt;
  return der.last(size);
}

// Nettle stores tags in the enum for which it has no enumerator; C permits that, C++ does not.
bool has_type(const asn1_der_iterator& at, asn1_type type) {
  return std::memcmp(&at.type, &type, sizeof type) == 0;
}

// SubjectPublicKeyInfo ::= SEQUENCE { SEQUENCE { OID rsaEncryption, NULL }, BIT STRING }, which
// contains RSAPublicKey (RFC 8017 appendix A.1.1).
std::optional<PublicKey> read_rsa(Bytes der) {
  constexpr std::array<std::uint8_t, 15> kAlgorithm{0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
                                                    0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
  asn1_der_iterator at;
  if (::asn1_der_iterator_first(&at, der.size(), der.data()) != ASN1_ITERATOR_CONSTRUCTED ||
      !has_type(at, ASN1_SEQUENCE) || at.pos != at.buffer_length)
    return std::nullopt;
  const Bytes inside(at.data, at.length);
  if (inside.size() < kAlgorithm.size() ||
      !std::ranges::equal(inside.first(kAlgorithm.size()), kAlgorithm))
    return std::nullopt;
  if (::asn1_der_decode_constructed_last(&at) != ASN1_ITERATOR_CONSTRUCTED ||
      ::asn1_der_iterator_next(&at) != ASN1_ITERATOR_PRIMITIVE || !has_type(at, ASN1_BITSTRING) ||
      ::asn1_der_decode_bitstring_last(&at) != ASN1_ITERATOR_CONSTRUCTED)
    return std::nullopt;
  rsa_public_key read;
  ::rsa_public_key_init(&read);
  std::optional<PublicKey> found;
  if (::rsa_public_key_from_der_iterator(&read, kMostBits, &at) == 1)
    found = PublicKey{KeyKind::rsa, bytes_of(read.n), bytes_of(read.e)};
  ::rsa_public_key_clear(&read);
  if (found && !Rsa(found->number, found->exponent).is_good()) found.reset();
  return found;
}

std::optional<PublicKey> read_der(Bytes der) {
  if (const auto key = rest_of(der, kBeforeEd25519, ED25519_KEY_SIZE))
    return PublicKey{KeyKind::ed25519, {key->begin(), key->end()}, {}};
  const auto point = rest_of(der, kBeforePoint, 2 * kCoordinate);
  if (!point) return read_rsa(der);
  if (!P256(*point).is_good()) return std::nullopt;
  return PublicKey{KeyKind::p256, {point->begin(), point->end()}, {}};
}

constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";

std::optional<std::vector<std::uint8_t>> decoded(std::string_view text) {
  base64_decode_ctx context;
  ::base64_decode_init(&context);
  std::vector<std::uint8_t> bytes(BASE64_DECODE_LENGTH(text.size()));
  std::size_t size = bytes.size();
  if (::base64_decode_update(&context, &size, bytes.data(), text.size(), text.data()) != 1 ||
      ::base64_decode_final(&context) != 1)
    return std::nullopt;
  bytes.resize(size);
  return bytes;
}

}  // namespace

bool PublicKey::has_signed(std::string_view text, Bytes signature) const {
  switch (kind) {
    case KeyKind::rsa: return Rsa(number, exponent).has_signed(text, signature);
    case KeyKind::p256: return P256(number).has_signed(text, signature);
    case KeyKind::ed25519: break;
  }
  return number.size() == ED25519_KEY_SIZE && signature.size() == ED25519_SIGNATURE_SIZE &&
         ::ed25519_sha512_verify(number.data(), text.size(),
                                 reinterpret_cast<const std::uint8_t*>(text.data()),
                                 signature.data()) == 1;
}

ReadPublicKey read_public_key(std::string_view pem) {
  const std::size_t begin = pem.find(kBegin);
  const std::size_t from = begin + kBegin.size();
  const std::size_t end = begin == std::string_view::npos ? begin : pem.find(kEnd, from);
  if (end == std::string_view::npos)
    return {{}, "holds no public key in PEM (-----BEGIN PUBLIC KEY-----)"};
  if (pem.find("-----BEGIN", from) != std::string_view::npos)
    return {{}, "holds more than one key: give each a file of its own"};
  const auto der = decoded(pem.substr(from, end - from));
  std::optional<PublicKey> key = der ? read_der(*der) : std::nullopt;
  if (!key)
    return {{}, "holds a key that is neither RSA of 2048 to 4096 bits, nor P-256, nor Ed25519"};
  return {std::move(key), ""};
}

}  // namespace spillway

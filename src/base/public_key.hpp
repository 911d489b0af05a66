// A public key, and the verification of signatures with it, as JSON Web Algorithms define it: RSA
// (RSASSA-PKCS1-v1_5) and ECDSA on P-256, both with SHA-256 (RFC 7518 sections 3.3 and 3.4), and
// Ed25519 (RFC 8037 section 3.1). Computed by Nettle in some 45, 280 and 200 us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

enum class KeyKind : std::uint8_t { rsa, p256, ed25519 };

// The size of a signature with RSA of 4096 bits. No valid signature is longer.
inline constexpr std::size_t kMostSignatureBytes = 512;

// A value type: the key's numbers as bytes, the most significant first.
struct PublicKey {
  KeyKind kind{};
  std::vector<std::uint8_t> number;    // RSA: the modulus; P-256: both coordinates; else the key
  std::vector<std::uint8_t> exponent;  // RSA only

  // False also for a signature whose length does not fit the key.
  bool has_signed(std::string_view text, std::span<const std::uint8_t> signature) const;

  bool operator==(const PublicKey&) const = default;
};

struct ReadPublicKey {
  std::optional<PublicKey> key;
  std::string problem;  // why there is no key, as text to follow the name of its file
};

// Reads a PEM text (RFC 7468) with one SubjectPublicKeyInfo, as `openssl pkey -pubout` writes it:
// RSA of 2048 to 4096 bits, a point of P-256, uncompressed, or Ed25519. All others are refused.
ReadPublicKey read_public_key(std::string_view pem);

}  // namespace spillway

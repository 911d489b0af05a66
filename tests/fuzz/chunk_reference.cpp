#include "fuzz/chunk_reference.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>

namespace spillway::fuzz {
namespace {

using Verdict = Decoded::Verdict;

constexpr std::size_t kSizeLine = 272;  // with its CR
constexpr std::size_t kExtensions = 64 * 1024;
constexpr std::size_t kTrailerSection = 8 * 1024;

constexpr std::string_view kHexadecimal = "0123456789abcdefABCDEF";
constexpr std::string_view kToken =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

constexpr std::string_view kExtension =
    ";= \t!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Hop-by-hop and protected fields.
constexpr auto kNeverTrailers = std::to_array<std::string_view>({"connection",
                                                                 "keep-alive",
                                                                 "proxy-connection",
                                                                 "te",
                                                                 "transfer-encoding",
                                                                 "upgrade",
                                                                 "http2-settings",
                                                                 "proxy-authenticate",
                                                                 "proxy-authorization",
                                                                 "proxy-authentication-info",
                                                                 "host",
                                                                 "content-length",
                                                                 "content-type",
                                                                 "content-encoding",
                                                                 "content-range",
                                                                 "trailer",
                                                                 "expect",
                                                                 "range",
                                                                 "if-match",
                                                                 "if-none-match",
                                                                 "if-modified-since",
                                                                 "if-unmodified-since",
                                                                 "if-range",
                                                                 "authorization",
                                                                 "www-authenticate",
                                                                 "cookie",
                                                                 "set-cookie",
                                                                 "cache-control",
                                                                 "pragma",
                                                                 "vary",
                                                                 "accept",
                                                                 "accept-charset",
                                                                 "accept-encoding",
                                                                 "accept-language",
                                                                 "user-agent",
                                                                 "date",
                                                                 "origin",
                                                                 "referer",
                                                                 "via",
                                                                 "max-forwards",
                                                                 "forwarded"});
constexpr auto kNeverResponseTrailers =
    std::to_array<std::string_view>({"age", "expires", "location", "retry-after"});
// Those by which a client or the proxy before it says who and what is asked for.
constexpr auto kNeverRequestTrailers = std::to_array<std::string_view>(
    {"x-request-id",   "x-request-deadline", "grpc-timeout",     "traceparent",
     "tracestate",     "x-api-key",          "x-tenant",         "x-priority",
     "x-real-ip",      "x-client-ip",        "x-remote-ip",      "x-cluster-client-ip",
     "x-remote-addr",  "x-azure-clientip",   "x-originating-ip", "x-original-forwarded-for",
     "x-proxyuser-ip", "x-forwarded",        "true-client-ip",   "x-envoy-external-address",
     "client-ip",      "cf-connecting-ip",   "fastly-client-ip", "cf-connecting-ipv6",
     "forwarded-for",  "proxy-client-ip",    "x-original-url",   "wl-proxy-client-ip",
     "x-rewrite-url",  "x-original-host",    "x-host",           "x-http-host-override",
     "x-scheme",       "x-url-scheme",       "front-end-https",  "proxy",
     "x-original-uri"});
constexpr auto kOwnFields = std::to_array<std::string_view>(
    {"spillway-degraded", "spillway-job", "spillway-ticket", "spillway-pass", "spillway-late",
     "spillway-degrade", "spillway-attempt", "spillway-join", "spillway-leave", "spillway-work",
     "spillway-session"});

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool allowed_trailer(std::string_view name, bool of_request) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto among = [&](const auto& names) {
    return std::find(names.begin(), names.end(), lower) != names.end();
  };
  if (among(kNeverTrailers)) return false;
  if (!of_request) return !among(kNeverResponseTrailers) && !among(kOwnFields);
  if (lower.starts_with("accept-")) return false;
  // CGI knows no other character than a hyphen between letters and digits.
  std::replace_if(
      lower.begin(), lower.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return !among(kNeverTrailers) && !among(kNeverRequestTrailers) &&
         !lower.starts_with("x-forwarded-") && !lower.starts_with("spillway-");
}

// Reads on from where it is. Each step says refused at the first byte that cannot be right, and
// incomplete where the text ends before that.
class Decoder {
 public:
  Decoder(std::string_view text, std::uint64_t limit, bool of_request, bool drops_trailers)
      : text_(text), limit_(limit), of_request_(of_request), drops_trailers_(drops_trailers) {}

  Decoded run() {
    std::optional<Verdict> verdict;
    while (!verdict) verdict = chunk();
    out_.verdict = *verdict;
    out_.consumed = at_;
    return std::move(out_);
  }

 private:
  bool ended() const { return at_ == text_.size(); }

  // Nothing: all of it was there.
  std::optional<Verdict> literal(std::string_view wanted) {
    for (const char c : wanted) {
      if (ended()) return Verdict::incomplete;
      if (text_[at_] != c) return Verdict::refused;
      ++at_;
    }
    return std::nullopt;
  }

  std::optional<Verdict> chunk() {
    const std::size_t line = at_;
    std::uint64_t size = 0;
    while (!ended() && at_ - line < kSizeLine && kHexadecimal.find(text_[at_]) != text_.npos) {
      const std::uint64_t digit = std::stoul(std::string(1, text_[at_]), nullptr, 16);
      if (size > (UINT64_MAX - digit) / 16) return Verdict::refused;
      size = size * 16 + digit;
      ++at_;
    }
    if (ended()) return Verdict::incomplete;
    if (at_ == line || at_ - line >= kSizeLine) return Verdict::refused;
    const bool spaced = text_[at_] == ' ' || text_[at_] == '\t';
    while (!ended() && at_ - line < kSizeLine && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (ended()) return Verdict::incomplete;
    if (at_ - line >= kSizeLine) return Verdict::refused;
    if (text_[at_] == ';') {
      ++at_;
      if (const auto verdict = extension(line)) return verdict;
    } else if (text_[at_] != '\r' || spaced) {
      return Verdict::refused;
    }
    if (const auto verdict = literal("\r\n")) return verdict;
    if (size > limit_ - out_.content.size()) {
      out_.too_large = true;
      return Verdict::refused;
    }
    std::array<char, 20> digits;
    std::snprintf(digits.data(), digits.size(), "%llx\r\n", static_cast<unsigned long long>(size));
    out_.anew += digits.data();
    if (size == 0) return trailers();
    const std::string_view data = text_.substr(at_, size);
    out_.content += data;
    at_ += data.size();
    if (data.size() < size) return Verdict::incomplete;
    out_.anew.append(data).append("\r\n");
    return literal("\r\n");
  }

  // Up to its CR: tokens and separators, and quoted strings, which may hold anything but controls.
  std::optional<Verdict> extension(std::size_t line) {
    const std::size_t begin = at_;
    const auto full = [&] {
      return at_ - line >= kSizeLine || extensions_ + at_ - begin >= kExtensions;
    };
    for (bool quoted = false;; ++at_) {
      if (ended()) return Verdict::incomplete;
      if (full()) return Verdict::refused;
      const char c = text_[at_];
      if (!quoted && c == '\r') break;
      if (quoted && is_control(c)) return Verdict::refused;
      if (!quoted && c != '"' && kExtension.find(c) == text_.npos) return Verdict::refused;
      if (c == '"') quoted = !quoted;
      if (!quoted || c != '\\') continue;
      ++at_;
      if (ended()) return Verdict::incomplete;
      if (full() || is_control(text_[at_])) return Verdict::refused;
    }
    extensions_ += at_ - begin + 1;
    return std::nullopt;
  }

  std::optional<Verdict> trailers() {
    const std::size_t section = at_;
    const auto full = [&] { return at_ - section >= kTrailerSection; };
    for (;;) {
      if (ended()) return Verdict::incomplete;
      if (full()) return Verdict::refused;
      if (text_[at_] == '\r') {
        ++at_;
        if (!ended() && full()) return Verdict::refused;
        out_.anew += "\r\n";
        const auto verdict = literal("\n");
        return verdict ? *verdict : Verdict::complete;
      }
      const std::size_t name = at_;
      while (!ended() && !full() && kToken.find(text_[at_]) != kToken.npos) ++at_;
      const std::string_view its_name = text_.substr(name, at_ - name);
      if (!of_request_ && !its_name.empty())
        while (!ended() && !full() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      if (ended()) return Verdict::incomplete;
      if (full() || text_[at_] != ':' || its_name.empty()) return Verdict::refused;
      const std::size_t colon = at_;
      const bool is_allowed = allowed_trailer(its_name, of_request_);
      if (of_request_ && !is_allowed) return Verdict::refused;
      while (!ended() && !full() && !is_control(text_[at_])) ++at_;
      if (ended()) return Verdict::incomplete;
      if (full() || text_[at_] != '\r') return Verdict::refused;
      ++at_;
      if (!ended() && full()) return Verdict::refused;
      if (const auto verdict = literal("\n")) return verdict;
      if (!is_allowed || drops_trailers_) continue;
      out_.anew += its_name;
      out_.anew += text_.substr(colon, at_ - colon);
    }
  }

  std::string_view text_;
  std::uint64_t limit_;
  bool of_request_;
  bool drops_trailers_;
  std::size_t at_ = 0;
  std::size_t extensions_ = 0;
  Decoded out_;
};

}  // namespace

Decoded decode_chunked(std::string_view text, std::uint64_t limit, bool of_request,
                       bool drops_trailers) {
  return Decoder(text, limit, of_request, drops_trailers).run();
}

}  // namespace spillway::fuzz

#include "proxy/visitors/pass_proof.hpp"

#include "base/base64.hpp"
#include "base/text_writer.hpp"

namespace spillway::proxy {

namespace {

const HmacKey* key_of(const RequestContext& request) {
  const auto& room = request.config().routes[index(request.classification.route)].waiting_room;
  return room && room->proof.key ? &*room->proof.key : nullptr;
}

}  // namespace

std::string_view prove_pass(std::string_view pass, const HmacKey& key, std::chrono::sys_seconds now,
                            PassText& to) {
  TextWriter out(to);
  out << pass << "; at=" << now.time_since_epoch().count();
  const Sha256 code = hmac_sha256(key, out.text());
  std::array<char, base64url_size(code.size())> signature;
  write_base64url(code, signature.data());
  out << "; sig=" << std::string_view(signature.data(), signature.size());
  return out.overflowed() ? std::string_view{} : out.text();
}

std::string_view told_pass(const RequestContext& request, std::chrono::sys_seconds now,
                           PassText& to) {
  if (request.pass.empty()) return {};
  const HmacKey* const key = key_of(request);
  return key != nullptr ? prove_pass(request.pass, *key, now, to) : request.pass;
}

void prove_pass_in(std::string& head, const RequestContext& request, std::chrono::sys_seconds now) {
  const HmacKey* const key = key_of(request);
  if (key == nullptr) return;
  constexpr std::string_view kName = "\r\nSpillway-Pass: ";
  std::size_t at = head.find(kName);
  if (at == std::string::npos) return;
  at += kName.size();
  const std::string_view pass = std::string_view(head).substr(at, head.find("\r\n", at) - at);
  PassText text;
  const std::string_view proved = prove_pass(pass, *key, now, text);
  if (!proved.empty()) head.replace(at, pass.size(), proved);
}

}  // namespace spillway::proxy

// The request's properties, and which of its fields are ignored.
#include <algorithm>
#include <chrono>
#include <string>
#include <variant>

#include "cli/explain/explain_sections.hpp"
#include "cli/terminal/terminal_text.hpp"
#include "config/tunnels.hpp"
#include "http/field/ascii.hpp"
#include "http/message/upgrade.hpp"
#include "traffic/trusted_token/trusted_tokens.hpp"
#include "waiting/terms/configured.hpp"

namespace spillway {
namespace {

void tell_ignored(ExplainedLines& lines, const http::FieldList& fields, std::string_view name,
                  const char* allowed) {
  const auto count = std::count_if(fields.begin(), fields.end(), [&](const http::Field& field) {
    return http::iequals(field.name, name);
  });
  if (count == 0) return;
  auto& line = lines.add("") << name << " is ignored, and not passed on: ";
  if (count > 1) {
    line << "it comes " << count << " times";
  } else {
    line << "it is not " << allowed;
  }
}

// Why the request cannot be upgraded to any protocol; empty if it can.
std::string_view why_no_upgrade(const http::RequestHead& head) {
  if (!head.upgrade) return "Connection does not name it";
  if (head.method != http::Verb::get) return "the method is not GET";
  if (head.framing.kind != http::Framing::Kind::none) return "the request has a body";
  return {};
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "nothing" : out;
}

// How the proxy evaluates the request's tokens; `unverified`: why earlier ones do not count.
traffic::TokenWord token_word(const traffic::TrustedTokens& tokens, const http::FieldList& fields,
                              std::string_view room, traffic::TokenTime now,
                              std::string& unverified) {
  for (const traffic::TokenSource source : traffic::TrustedTokens::kSources) {
    const auto token = tokens.find(source, fields);
    if (!token) continue;
    const traffic::VerifiedToken verified = tokens.verify(*token);
    const auto* const claims = std::get_if<traffic::TokenClaims>(&verified);
    const auto fault =
        claims != nullptr ? claims->fault_at(room, now) : std::get<traffic::TokenFault>(verified);
    if (!fault) return {source, claims->tier, claims->user};
    unverified.append("; its ")
        .append(name(source))
        .append(" does not count: ")
        .append(name(*fault));
  }
  return {};
}

}  // namespace

void tell_ignored_deadlines(ExplainedLines& lines, const http::RequestHead& head,
                            const traffic::DeadlineFields& valid) {
  if (!valid.request) {
    tell_ignored(lines, head.fields, "X-Request-Deadline",
                 "what is left, such as 250ms or 2s, or Unix time in milliseconds, 12 digits or "
                 "more");
  }
  if (!valid.grpc_timeout) {
    tell_ignored(lines, head.fields, "grpc-timeout", "1 to 8 digits and one of H M S m u n");
  }
}

void tell_visitor(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classifier& classifier,
                  const traffic::Peer& peer, const traffic::Classification& classification) {
  const config::Route& route = config.routes[index(classification.route)];
  if (!route.waiting_room) return;
  const auto now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  std::string unverified;
  const traffic::TokenWord word = token_word(traffic::TrustedTokens(config.trusted_tokens),
                                             head.fields, route.name, now, unverified);
  const std::string_view tier = classifier.waiting_tier(head, peer, classification.tenant, word);
  const traffic::VerifiedUser user =
      classifier.waiting_user(head, peer, classification.tenant, word);
  const config::WaitingRoom& room = *route.waiting_room;
  auto& line = lines.add("visitor");
  line << "tier " << waiting::tier_name(room, waiting::priority_of(room, tier)) << ", ";
  if (user.name.empty())
    line << "no verified user";
  else
    line << "user " << plain(user.name);
  if (word.source != traffic::TokenSource::none) line << ", by its " << name(word.source);
  line << unverified;
}

void tell_upgrade(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Classification& classification) {
  if (!head.fields.contains(http::FieldId::upgrade)) return;
  const config::Route& route = config.routes[index(classification.route)];
  const std::string_view protocol = http::offered_upgrade(head, route.upgrades);
  auto& line = lines.add("upgrade");
  if (!protocol.empty()) {
    line << protocol << ": asked of the upstream; once that agrees, a tunnel (one of "
         << config::tunnels_among(config.limits.connections, config.limits)
         << " of limits.tunnels) that holds no slot";
    return;
  }
  const std::string_view why = why_no_upgrade(head);
  line << "none: ";
  if (why.empty()) {
    line << "the upgrades of route " << route.name << " allow " << listed(route.upgrades);
  } else {
    line << why;
  }
  line << ". The request goes on as any other, without its Upgrade.";
}

}  // namespace spillway

#include "cli/explain_request.hpp"

#include <algorithm>
#include <string>

#include "http/ascii.hpp"
#include "http/upgrade.hpp"

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

// Why the request cannot be upgraded to any protocol; empty: it can.
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

void tell_upgrade(ExplainedLines& lines, const config::Config& config,
                  const http::RequestHead& head, const traffic::Subject& subject) {
  if (!head.fields.contains(http::FieldId::upgrade)) return;
  const config::Route& route = config.routes[index(subject.route)];
  const std::string_view protocol = http::offered_upgrade(head, route.upgrades);
  auto& line = lines.add("upgrade");
  if (!protocol.empty()) {
    line << protocol << ": asked of the upstream; once that agrees, a tunnel (one of "
         << config.limits.tunnels << " of limits.tunnels) that holds no slot";
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

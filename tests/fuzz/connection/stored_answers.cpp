#include "fuzz/connection/stored_answers.hpp"

#include <algorithm>
#include <string>

#include "fuzz/plain_head.hpp"

namespace spillway::fuzz {
namespace {

using std::string_view;

// "" without that field.
string_view value_of(const PlainHead& head, string_view name) {
  for (const PlainField& field : head.fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

bool has_directive(const PlainHead& head, string_view its) {
  for (const PlainField& field : head.fields) {
    if (field.name != "Cache-Control") continue;
    string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      string_view one = rest.substr(0, comma);
      while (one.starts_with(' ')) one.remove_prefix(1);
      if (one == its) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

// What stands in the Host of a request that came without one (HTTP/1.0): the world's server.
constexpr string_view kServer = "127.0.0.1:9";

struct Target {
  std::string authority;
  std::string path;

  friend bool operator==(const Target&, const Target&) = default;
};

Target target_of(const PlainHead& head) {
  const string_view line = head.start_line;
  const std::size_t begin = line.find(' ') + 1;
  string_view target = line.substr(begin, line.rfind(' ') - begin);
  constexpr string_view kScheme = "http://";
  if (!target.starts_with(kScheme)) {
    const string_view host = value_of(head, "Host");
    return {std::string(host.empty() ? kServer : host), std::string(target)};
  }
  target.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(target.find('/'), target.size());
  return {std::string(target.substr(0, slash)), std::string(target.substr(slash))};
}

bool is_shared(const Target& target) { return target.path.starts_with("/shared/"); }

bool is_kept(const PlainHead& request, const PlainHead& answer) {
  const bool is_public = has_directive(answer, "public");
  return request.start_line.starts_with("GET ") && !has_directive(answer, "private") &&
         !has_directive(answer, "no-store") && (is_public || request.count("Authorization") == 0);
}

bool is_selected(const PlainHead& answer, const PlainHead& stored_for, const PlainHead& request) {
  return value_of(answer, "Vary") != "X-Kind" ||
         value_of(stored_for, "X-Kind") == value_of(request, "X-Kind");
}

bool has_same_content(const GivenAnswer& given, const SentRequest& request,
                      const SentAnswer& sent) {
  const bool is_not_modified =
      given.status == 304 && plain_head(request.head).count("If-None-Match") > 0;
  if (is_not_modified) return sent.status == 200;
  if (given.status != sent.status) return false;
  if (request.method == "HEAD") return true;
  if (!given.is_complete) return sent.content.starts_with(given.content);
  return sent.content == given.content;
}

}  // namespace

bool has_shared_target(string_view head) { return is_shared(target_of(plain_head(head))); }

bool are_alike(string_view a_head, string_view another_head) {
  const Target a = target_of(plain_head(a_head));
  return is_shared(a) && a == target_of(plain_head(another_head));
}

bool may_be_stored(const GivenAnswer& given, const SentRequest& request,
                   const std::list<Arrival>& arrivals) {
  if (request.method != "GET" && request.method != "HEAD") return false;
  const PlainHead its = plain_head(request.head);
  return std::any_of(arrivals.begin(), arrivals.end(), [&](const Arrival& arrival) {
    if (!are_alike(arrival.head, request.head)) return false;
    const SentAnswer sent = read_answer(string_view(arrival.answer).substr(0, arrival.answer_sent),
                                        false, arrival.has_server_closed);
    if (!sent.is_valid || !sent.is_complete) return false;
    const PlainHead stored_for = plain_head(arrival.head), answer = plain_head(sent.head);
    return is_kept(stored_for, answer) && is_selected(answer, stored_for, its) &&
           has_same_content(given, request, sent);
  });
}

}  // namespace spillway::fuzz

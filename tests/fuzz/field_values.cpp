// Any text as a field's value: what the small parsers make of it holds to their contracts. Two
// values, apart by a line feed, stand in for two fields of one name.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_writer.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/targets.hpp"
#include "http/caching/cache_control.hpp"
#include "http/caching/conditional.hpp"
#include "http/caching/date.hpp"
#include "http/caching/range.hpp"
#include "http/caching/targeted_control.hpp"
#include "http/field/accept.hpp"
#include "http/field/ascii.hpp"
#include "http/field/request_id.hpp"
#include "http/message/target.hpp"
#include "http/outgoing/escape.hpp"
#include "http/outgoing/forwarded.hpp"
#include "jobs/idempotency.hpp"
#include "jobs/prefer.hpp"
#include "traffic/classify/deadline.hpp"
#include "traffic/client/client_address.hpp"

namespace spillway::fuzz {
namespace {

using http::CacheControl;
using http::FieldId;
using http::FieldList;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds kNow{seconds{1750000000}};

FieldList fields(FieldId id, std::string_view name,
                 std::initializer_list<std::string_view> values) {
  FieldList out;
  for (const std::string_view value : values) out.push({name, value, id});
  return out;
}

bool within(const std::optional<seconds>& value) {
  return !value || (*value >= seconds{0} && *value <= http::kMaxDeltaSeconds);
}

// A number that allows no more than the other one does, where there is one.
bool no_more(const std::optional<seconds>& value, const std::optional<seconds>& than) {
  return !than || (value && *value <= *than);
}

bool as_strict(const CacheControl& a, const CacheControl& b) {
  return a.no_cache >= b.no_cache && a.no_store >= b.no_store && a.is_private >= b.is_private &&
         a.must_revalidate >= b.must_revalidate && a.proxy_revalidate >= b.proxy_revalidate &&
         a.no_transform >= b.no_transform && a.only_if_cached >= b.only_if_cached &&
         no_more(a.max_age, b.max_age) && no_more(a.s_maxage, b.s_maxage) &&
         no_more(a.max_stale, b.max_stale) &&
         (!b.min_fresh || (a.min_fresh && *a.min_fresh >= *b.min_fresh)) &&
         no_more(a.stale_if_error, b.stale_if_error) &&
         no_more(a.stale_while_revalidate, b.stale_while_revalidate);
}

void check_cache_control(std::string_view one, std::string_view two) {
  const auto read = [](std::initializer_list<std::string_view> values) {
    return http::cache_control(fields(FieldId::cache_control, "Cache-Control", values));
  };
  const CacheControl first = read({one});
  for (const auto& value : {first.max_age, first.s_maxage, first.max_stale, first.min_fresh,
                            first.stale_if_error, first.stale_while_revalidate}) {
    require(within(value), "seconds are from 0 to 2^31", one);
  }
  const CacheControl both = read({one, two});
  require(as_strict(both, first), "a further field never allows more", one);
  require(as_strict(both, read({two})), "nor does one before", two);
  const CacheControl turned = read({two, one});
  require(as_strict(both, turned) && as_strict(turned, both), "the order does not matter", one);
}

void check_targeted(std::string_view one, std::string_view two) {
  constexpr std::string_view kName = "CDN-Cache-Control";
  const auto read = [&](std::initializer_list<std::string_view> values) {
    return http::targeted_cache_control(fields(FieldId::unknown, kName, values), kName);
  };
  const auto control = read({one});
  if (!control) return;
  for (const auto& value : {control->max_age, control->s_maxage, control->stale_if_error,
                            control->stale_while_revalidate}) {
    require(within(value), "seconds are from 0 to 2^31", one);
  }
  require(read({std::string(one) + " , x"}).has_value(), "a dictionary can have more members", one);
  require(!read({std::string(one) + ","}).has_value(), "but no empty one", one);
  require(two.empty() || read({one, two}).has_value() == read({two}).has_value(),
          "each line is a dictionary", two);
}

void check_ranges(std::string_view text) {
  const auto wanted = http::range_wanted(fields(FieldId::range, "Range", {text}));
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}}) {
    const auto part = wanted ? http::part_of(*wanted, length) : std::nullopt;
    require(!part || (part->first <= part->last && part->last < length),
            "a part is one of the content", text);
  }
}

void check_dates(std::string_view one, std::string_view two) {
  const auto first = http::parse_date(one, kNow);
  const auto second = http::parse_date(two, kNow);
  if (first) {
    const http::DateText text = http::date_text(*first);
    const auto again = http::parse_date({text.data(), text.size()}, kNow);
    require(again == first, "a date is written as it is read", one);
  }
  const FieldList asked = fields(FieldId::if_modified_since, "If-Modified-Since", {two});
  const bool unchanged = http::not_modified(asked, {.last_modified = one}, kNow);
  require(!unchanged || (first && second && *first <= *second) || one == two,
          "what is not known to be old is sent whole", two);
  require(!first || !second || *first > *second || unchanged, "what is not younger is not sent",
          two);
}

void check_tags(std::string_view one, std::string_view two) {
  const FieldList asked = fields(FieldId::if_none_match, "If-None-Match", {two});
  const bool matches = http::not_modified(asked, {.etag = one}, kNow);
  require(matches || one != two || one.empty(), "a tag matches itself", one);
  const std::string_view opaque = one.starts_with("W/") ? one.substr(2) : one;
  require(!matches || two == "*" || (!opaque.empty() && two.find(opaque) != two.npos),
          "no other tag does", two);
}

void check_names(std::string_view text) {
  if (http::valid_request_id(text)) {
    require(!text.empty() && text.size() <= http::kMaxRequestIdSize, "a request id has a length");
    const bool visible = std::all_of(text.begin(), text.end(), [](char c) {
      return c > ' ' && c <= '~' && std::string_view("\"\\,;").find(c) == std::string_view::npos;
    });
    require(visible, "a request id can stand anywhere as it is", text);
  }
  if (http::valid_traceparent(text)) {
    const bool lower = std::all_of(text.begin(), text.begin() + http::kTraceparentSize, [](char c) {
      return c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'a' && c <= 'f');
    });
    require(lower && !text.starts_with("ff"), "a traceparent is lower-case hexadecimal", text);
  }
  if (http::valid_authority(text)) {
    require(text.find_first_of("@/?#\\\"<> \t%,;!$&'()*+=") == text.npos,
            "an authority is a host and a port", text);
    require(http::valid_authority(http::without_port(text)), "and a host without one", text);
  }
}

void check_client(std::string_view one, std::string_view two) {
  static const traffic::TrustedPeers trusted({"10.0.0.0/8", "2001:db8::/32"});
  const IpAddress peer = *parse_ip_address("10.0.0.1");
  const FieldList sent = fields(FieldId::unknown, "X-Forwarded-For", {one, two});
  const IpAddress client = traffic::client_behind(peer, sent, trusted);
  const traffic::NetworkText network(traffic::client_network(client), traffic::kOfClient);
  const std::string_view text = network.text();
  require(parse_ip_address(text.substr(0, text.find('/'))).has_value(), "a client has an address",
          one);
  // What a stranger says of those before it does not count.
  const std::string hearsay = std::string(one) + ", 192.0.2.9";
  const FieldList heard = fields(FieldId::unknown, "X-Forwarded-For", {hearsay});
  require(traffic::client_behind(peer, heard, trusted) == *parse_ip_address("192.0.2.9"),
          "the last stranger is the client", one);
}

// What is appended to a chain must be read as its last element.
void require_appendable(std::string chain, std::string_view input) {
  chain += "for=192.0.2.9";
  const http::ForwardedElements all(fields(FieldId::forwarded, "Forwarded", {chain}));
  require(all.well_formed() && all.last().node == "192.0.2.9", "what is appended is the last",
          input);
}

void check_forwarded(std::string_view one, std::string_view two) {
  std::vector<char> block(1024);  // about half of what a rewritten head has room for
  const http::ForwardedElements elements(fields(FieldId::forwarded, "Forwarded", {one, two}));
  if (elements.well_formed()) {
    TextWriter out(block);
    elements.write_as_x_forwarded_for(out);
    require(!out.overflowed() && out.text().ends_with(", "), "a chain has a bound", one);
    http::for_each_element(out.text().substr(0, out.size() - 2), [&](std::string_view entry) {
      require(entry == "unknown" || parse_ip_address(entry).has_value(),
              "an entry is an address or unknown", entry);
    });
    std::string chain;
    for (const std::string_view value : {one, two}) {
      if (!value.empty()) chain.append(value).append(", ");
    }
    require_appendable(chain, one);
  }
  FieldList sent = fields(FieldId::unknown, "X-Forwarded-For", {one});
  sent.push({"X-Forwarded-Host", two, FieldId::unknown});
  sent.push({"X-Forwarded-Proto", one, FieldId::unknown});
  std::vector<char> wider(1536);
  TextWriter out(wider);
  http::write_as_forwarded(out, sent);
  require(!out.overflowed(), "so has one in the other form", one);
  require_appendable(std::string(out.text()), one);
}

void check_deadlines(std::string_view one, std::string_view two) {
  constexpr TimePoint arrived{std::chrono::hours(1)};
  traffic::DeadlineText text;
  const auto read = [&](FieldList&& sent) {
    return traffic::client_deadline(traffic::deadline_fields(sent), arrived, kNow);
  };
  const auto of_request = read(fields(FieldId::unknown, "X-Request-Deadline", {one}));
  const auto of_grpc = read(fields(FieldId::unknown, "grpc-timeout", {two}));
  for (const TimePoint at : {of_request.at, of_grpc.at}) {
    if (at == kNever) continue;
    const Duration left = at - arrived;
    require(left >= -traffic::kFurthest && left <= traffic::kFurthest,
            "no deadline is further than the furthest", one);
    if (left <= Duration{0}) continue;
    const auto told = traffic::parse_request_deadline(traffic::write_time_left(left, text));
    require(told && !told->is_unix_time && (told->value <= left || told->value.count() == 1),
            "what is left is told as no more", one);
    const auto grpc = traffic::parse_grpc_timeout(traffic::write_grpc_timeout(left, text));
    require(grpc && (*grpc <= left || *grpc == std::chrono::microseconds(1)), "in grpc-timeout too",
            two);
  }
  const auto digits = [](std::string_view value) {
    return !value.empty() && value.front() >= '0' && value.front() <= '9';
  };
  require(of_request.at == kNever || digits(one), "a deadline begins with a digit", one);
  require(of_grpc.at == kNever || digits(two), "so does a grpc-timeout", two);
  FieldList both = fields(FieldId::unknown, "X-Request-Deadline", {one});
  both.push({"Grpc-Timeout", two, FieldId::unknown});
  require(read(std::move(both)).at == std::min(of_request.at, of_grpc.at),
          "the earlier deadline counts", one);
  require(read(fields(FieldId::unknown, "X-Request-Deadline", {one, two})).at == kNever,
          "of two of one name none counts", one);
}

void check_escapes(std::string_view text) {
  std::vector<char> block(8 * text.size() + 64);
  TextWriter json(block);
  http::write_json_string(json, text);
  require(nlohmann::json::parse(json.text(), nullptr, false).is_string(),
          "any text is written as a JSON string", json.text());
  TextWriter html(block);
  http::write_html_text(html, text);
  require(html.text().find_first_of("<>\"'") == std::string_view::npos, "no text becomes markup",
          html.text());
  TextWriter value(block);
  http::write_field_value(value, text);
  require(std::none_of(value.text().begin(), value.text().end(), http::is_forbidden_control),
          "no text ends a field", value.text());
}

// As the inside of a quoted string.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void check_preferences(std::string_view one, std::string_view two) {
  const auto read = [](std::initializer_list<std::string_view> values) {
    return jobs::parse_prefer(fields(FieldId::prefer, "Prefer", values));
  };
  const jobs::Preference first = read({one}), second = read({two}), both = read({one, two});
  for (const jobs::Preference& each : {first, second, both}) {
    require(!each.wait || (*each.wait >= seconds{0} && *each.wait <= seconds{3600}),
            "a wait is from 0 s to an hour", one);
  }
  require(both.respond_async == (first.respond_async || second.respond_async),
          "each field is a list of its own", one);
  require(first.wait ? both.wait == first.wait : !both.wait || both.wait == second.wait,
          "the first wait counts", one);
  const std::string behind = "respond-async, wait=7, " + std::string(one);
  const jobs::Preference after = read({behind});
  require(after.respond_async && after.wait == seconds{7},
          "what comes behind a preference does not change it", one);
  const std::string quoted = "x=\"" + escaped(one) + "\", wait=7";
  const jobs::Preference hidden = read({quoted});
  require(!hidden.respond_async && hidden.wait == seconds{7}, "a quoted text is no preference",
          one);
}

void check_keys(std::string_view one, std::string_view two) {
  const auto read = [](std::initializer_list<std::string_view> values) {
    return jobs::read_idempotency_key(fields(FieldId::unknown, "Idempotency-Key", values));
  };
  const jobs::ReadKey first = read({one}), second = read({two});
  for (const jobs::ReadKey& each : {first, second}) {
    require(each.key.has_value() != each.is_invalid, "a key is read, or invalid", one);
    if (!each.key) continue;
    require(!each.key->empty() && each.key->size() <= 255, "a key has a length", one);
    require(std::all_of(each.key->begin(), each.key->end(),
                        [](char c) { return c >= ' ' && c <= '~'; }),
            "a key is printable", *each.key);
    const std::string text = '"' + escaped(*each.key) + '"';
    require(read({text}).key == each.key, "a key that is written as a text is the same", text);
  }
  require(read({one, two}).is_invalid, "two keys are none", one);
  require(!read({}).key && !read({}).is_invalid, "and no field is no key", one);
  const auto scope = [&](const jobs::ReadKey& key) {
    return jobs::scope_of("route", "principal", key.key.value_or(""));
  };
  require((scope(first) == scope(second)) == (first.key.value_or("") == second.key.value_or("")),
          "different keys have different scopes", one);
  const std::string all = std::string(one) + std::string(two);
  require(two.empty() || jobs::scope_of(one, two, "k") != jobs::scope_of(all, "", "k"),
          "and so have different principals", all);
}

}  // namespace

void field_values(std::string_view input) {
  check_escapes(input);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view one = http::trim(input.substr(0, end));
  const std::string_view two = http::trim(input.substr(std::min(end + 1, input.size())));
  // What a head does not let through never comes here.
  if (std::any_of(one.begin(), one.end(), http::is_forbidden_control)) return;
  if (std::any_of(two.begin(), two.end(), http::is_forbidden_control)) return;

  check_cache_control(one, two);
  check_targeted(one, two);
  check_ranges(one);
  check_dates(one, two);
  check_tags(one, two);
  check_names(one);
  check_client(one, two);
  check_forwarded(one, two);
  check_deadlines(one, two);
  check_preferences(one, two);
  check_keys(one, two);
  const bool html = http::prefers_html(fields(FieldId::accept, "Accept", {one, two}));
  require(!html || one.size() + two.size() > 4, "without a preference it is JSON");
}

}  // namespace spillway::fuzz

#include "system/differential/comparison.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace spillway::differential {
namespace {

using std::string_view;
using wire::Message;

std::string lower(string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Set anew by each proxy in its way, or about framing, which the content shows.
bool is_own(const std::string& name) {
  constexpr std::array kNames{"host",
                              "connection",
                              "content-length",
                              "transfer-encoding",
                              "forwarded",
                              "via",
                              "x-request-id",
                              "traceparent",
                              "x-forwarded-for",
                              "x-forwarded-proto",
                              "x-forwarded-host"};
  return std::ranges::find(kNames, name) != kNames.end();
}

std::map<std::string, std::string> fields_of(const Message& message) {
  std::map<std::string, std::string> fields;
  for (const auto* part : {&message.fields, &message.trailers}) {
    for (const auto& [name, value] : *part) {
      const std::string key = (part == &message.trailers ? "trailer " : "") + lower(name);
      if (!is_own(key)) fields[key] += "[" + value + "]";
    }
  }
  return fields;
}

void compare_fields(const Message& ours, const Message& theirs, std::vector<Difference>& found) {
  const auto mine = fields_of(ours), other = fields_of(theirs);
  for (const auto& [name, value] : mine) {
    const auto same = other.find(name);
    if (same == other.end()) {
      found.push_back({Kind::keeps_field, name});
    } else if (same->second != value) {
      found.push_back({Kind::field_value, name + ": " + value + " or " + same->second});
    }
  }
  for (const auto& [name, value] : other) {
    if (!mine.contains(name)) found.push_back({Kind::drops_field, name});
  }
}

void compare_requests(const Message& ours, const Message& theirs, std::vector<Difference>& found) {
  const auto compare = [&](Kind kind, const std::string& a, const std::string& b) {
    if (a != b) found.push_back({kind, a + " or " + b});
  };
  compare(Kind::method, ours.method(), theirs.method());
  compare(Kind::target, ours.target(), theirs.target());
  compare(Kind::host, ours.field("Host").value_or(""), theirs.field("Host").value_or(""));
  compare(Kind::content, ours.body, theirs.body);
  compare_fields(ours, theirs, found);
}

}  // namespace

string_view name_of(Kind kind) {
  constexpr std::array<string_view, 12> kNames{"forwards nothing",
                                               "forwards what the other does not",
                                               "number of requests",
                                               "method",
                                               "target",
                                               "Host",
                                               "content",
                                               "drops a field",
                                               "keeps a field",
                                               "a field's value",
                                               "serves nothing behind it",
                                               "serves what is behind it"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Difference> differences(const Outcome& ours, const Outcome& theirs) {
  std::vector<Difference> found;
  const std::size_t mine = ours.first.size();
  // Of what is invalid a strict reader finds no more.
  const std::size_t other = theirs.first.size() + !theirs.trouble.empty();
  const auto behind = [](const Outcome& outcome) { return outcome.second + outcome.end; };
  if (mine == 0 && other > 0) {
    found.push_back(
        {Kind::stricter, ours.statuses.empty() ? "" : std::to_string(ours.statuses[0])});
  } else if (mine > 0 && other == 0) {
    found.push_back(
        {Kind::laxer, theirs.statuses.empty() ? "" : std::to_string(theirs.statuses[0])});
  } else if (mine != other) {
    found.push_back({Kind::number, std::to_string(mine) + " or " + std::to_string(other)});
  } else {
    const std::size_t both = std::min(mine, theirs.first.size());
    for (std::size_t n = 0; n < both; ++n) compare_requests(ours.first[n], theirs.first[n], found);
    if (behind(ours) < behind(theirs)) found.push_back({Kind::stops, ""});
    if (behind(ours) > behind(theirs)) found.push_back({Kind::goes_on, ""});
  }
  return found;
}

std::size_t explanation(const Difference& difference, const Stream& stream, string_view beside) {
  const auto& all = allowed();
  const auto has = [&](string_view oddity) {
    return oddity.empty() || std::ranges::find(stream.oddities, oddity) != stream.oddities.end();
  };
  const auto found = std::ranges::find_if(all, [&](const Allowed& each) {
    return each.kind == difference.kind && (each.beside.empty() || each.beside == beside) &&
           has(each.oddity) && (each.detail.empty() || each.detail == difference.detail);
  });
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace spillway::differential

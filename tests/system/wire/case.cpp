#include "system/wire/case.hpp"

#include <algorithm>
#include <utility>

namespace spillway::conformance {

namespace {

std::string in_words(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

std::vector<int> statuses_of(const std::vector<Message>& messages) {
  std::vector<int> found;
  for (const Message& message : messages) found.push_back(message.status());
  return found;
}

std::vector<std::string> values(const support::Fields& fields, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& field : fields) {
    if (support::find({field}, name)) found.push_back(field.second);
  }
  return found;
}

std::string in_words(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "'" : ", '") + text + "'";
  return all.empty() ? "missing" : all;
}

std::string shortened(std::string text) {
  if (text.size() > 120) text = text.substr(0, 120) + "...";
  std::string shown;
  for (const char c : text) {
    if (c == '\r') {
      shown += "\\r";
    } else if (c == '\n') {
      shown += "\\n";
    } else {
      shown += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
    }
  }
  return shown;
}

using Pick = const Message* (*)(const Seen&);

const Message* response(const Seen& seen) {
  return seen.responses.empty() ? nullptr : &seen.responses.back();
}
const Message* interim_response(const Seen& seen) {
  return seen.interim.empty() ? nullptr : &seen.interim.back();
}
const Message* request(const Seen& seen) {
  return seen.requests.empty() ? nullptr : &seen.requests.front();
}

Check has_values(Pick pick, std::string who, std::string name, std::vector<std::string> expected) {
  return [=](const Seen& seen) -> std::string {
    const Message* message = pick(seen);
    if (message == nullptr) return who + " is missing";
    const auto found = values(message->fields, name);
    return found == expected ? "" : shortened(who + "'s " + name + " is " + in_words(found));
  };
}

Check has_part(Pick pick, std::string who, std::string name, std::string part) {
  return [=](const Seen& seen) -> std::string {
    const Message* message = pick(seen);
    if (message == nullptr) return who + " is missing";
    const auto found = values(message->fields, name);
    const bool there = std::ranges::any_of(
        found, [&](const std::string& value) { return value.find(part) != std::string::npos; });
    return there ? "" : shortened(who + "'s " + name + " is " + in_words(found));
  };
}

}  // namespace

Case::Case(Level level, std::string section, std::string sentence)
    : level_(level), section_(std::move(section)), sentence_(std::move(sentence)) {}

Case& Case::sends(std::string bytes) {
  acts_.push_back({Act::Kind::send, std::move(bytes)});
  return *this;
}

Case& Case::awaits_interim() {
  acts_.push_back({Act::Kind::await_interim});
  return *this;
}

Case& Case::awaits_response() {
  acts_.push_back({Act::Kind::await_response});
  return *this;
}

Case& Case::awaits_backend() {
  acts_.push_back({Act::Kind::await_backend});
  return *this;
}

Case& Case::awaits_answered() {
  acts_.push_back({Act::Kind::await_answered});
  return *this;
}

Case& Case::half_closes() {
  acts_.push_back({Act::Kind::half_close});
  return *this;
}

Case& Case::leaves() {
  acts_.push_back({Act::Kind::leave});
  return responses(0);
}

Case& Case::byte_by_byte(std::string_view bytes) {
  for (const char byte : bytes) sends(std::string(1, byte));
  return *this;
}

Case& Case::asks_head() {
  is_head_ = true;
  return *this;
}

Case& Case::from_trusted_peer() {
  is_trusted_ = true;
  return *this;
}

Case& Case::answered(Answer answer) {
  answers_.push_back(std::move(answer));
  return *this;
}

Case& Case::responses(std::size_t due) {
  due_ = due;
  return *this;
}

Case& Case::refused(std::vector<int> statuses) { return status(std::move(statuses)).requests(0); }

Case& Case::untouched() {
  return satisfies([](const Seen& seen) -> std::string {
    return seen.received.empty() ? "" : "the backend got '" + shortened(seen.received[0]) + "'";
  });
}

Case& Case::passes() { return status({200}).requests(1); }

Case& Case::status(std::vector<int> any_of) {
  return satisfies([any_of = std::move(any_of)](const Seen& seen) -> std::string {
    if (seen.responses.empty()) {
      return seen.rest.empty() ? "no response" : "no whole response: " + shortened(seen.rest);
    }
    const int got = seen.responses.back().status();
    return std::ranges::count(any_of, got) > 0 ? "" : "status " + std::to_string(got);
  });
}

Case& Case::statuses(std::vector<int> in_order) {
  due_ = in_order.size();
  return satisfies([in_order = std::move(in_order)](const Seen& seen) -> std::string {
    const auto got = statuses_of(seen.responses);
    return got == in_order ? "" : "statuses " + in_words(got);
  });
}

Case& Case::closed() {
  wants_closed_ = true;
  return satisfies([](const Seen& seen) -> std::string {
    return seen.closed ? "" : "the connection stays open";
  });
}

Case& Case::open() {
  wants_open_ = true;
  return satisfies([](const Seen& seen) -> std::string {
    return seen.stays_open ? "" : "the connection does not take another request";
  });
}

Case& Case::broken_off() {
  due_ = 1;
  wants_closed_ = true;
  return satisfies([](const Seen& seen) -> std::string {
    for (const Message& message : seen.responses) {
      if (message.status() != 502 && message.status() != 504) {
        return "a complete response with status " + std::to_string(message.status());
      }
    }
    return seen.closed || !seen.responses.empty() ? "" : "the client is left waiting";
  });
}

Case& Case::body(std::string bytes) { return bodies({std::move(bytes)}); }

Case& Case::bodies(std::vector<std::string> in_order) {
  due_ = std::max(due_, in_order.size());
  return satisfies([in_order = std::move(in_order)](const Seen& seen) -> std::string {
    std::vector<std::string> got;
    for (const Message& message : seen.responses) got.push_back(message.body);
    return got == in_order ? "" : shortened("got " + in_words(got));
  });
}

Case& Case::with(std::string name, std::string value) {
  return with_lines(std::move(name), {std::move(value)});
}

Case& Case::with_lines(std::string name, std::vector<std::string> expected) {
  return satisfies(has_values(response, "the response", std::move(name), std::move(expected)));
}

Case& Case::with_part(std::string name, std::string part) {
  return satisfies(has_part(response, "the response", std::move(name), std::move(part)));
}

Case& Case::without(std::string name) { return with_lines(std::move(name), {}); }

Case& Case::interim(std::vector<int> in_order) {
  return satisfies([in_order = std::move(in_order)](const Seen& seen) -> std::string {
    const auto got = statuses_of(seen.interim);
    return got == in_order ? "" : "interim responses: " + in_words(got);
  });
}

Case& Case::interim_with(std::string name, std::string value) {
  return satisfies(
      has_values(interim_response, "the interim response", std::move(name), {std::move(value)}));
}

Case& Case::interim_without(std::string name) {
  return satisfies(has_values(interim_response, "the interim response", std::move(name), {}));
}

Case& Case::requests(std::size_t complete) {
  return satisfies([complete](const Seen& seen) -> std::string {
    if (seen.requests.size() == complete) return {};
    return std::to_string(seen.requests.size()) + " requests reached the backend";
  });
}

Case& Case::asked_line(std::string start_line) {
  return satisfies([line = std::move(start_line)](const Seen& seen) -> std::string {
    const Message* message = request(seen);
    if (message == nullptr) return "the backend was not asked";
    return message->start_line == line ? "" : "asked '" + shortened(message->start_line) + "'";
  });
}

Case& Case::asked_method_and_target(std::string both) {
  return satisfies([both = std::move(both)](const Seen& seen) -> std::string {
    const Message* message = request(seen);
    if (message == nullptr) return "the backend was not asked";
    const bool same = message->method() + " " + message->target() == both;
    return same ? "" : "asked '" + shortened(message->start_line) + "'";
  });
}

Case& Case::asked_with(std::string name, std::string value) {
  return asked_lines(std::move(name), {std::move(value)});
}

Case& Case::asked_lines(std::string name, std::vector<std::string> expected) {
  return satisfies(has_values(request, "the request", std::move(name), std::move(expected)));
}

Case& Case::asked_part(std::string name, std::string part) {
  return satisfies(has_part(request, "the request", std::move(name), std::move(part)));
}

Case& Case::asked_without(std::string name) { return asked_lines(std::move(name), {}); }

Case& Case::asked_raw(std::string line) {
  return satisfies([line = "\r\n" + std::move(line)](const Seen& seen) -> std::string {
    for (const std::string& bytes : seen.received) {
      if (bytes.find(line) != std::string::npos) return {};
    }
    return shortened("the backend got no " + line.substr(2));
  });
}

Case& Case::asked_body(std::string bytes) {
  return satisfies([bytes = std::move(bytes)](const Seen& seen) -> std::string {
    const Message* message = request(seen);
    if (message == nullptr) return "the backend was not asked";
    return message->body == bytes ? "" : "asked with the body '" + shortened(message->body) + "'";
  });
}

Case& Case::satisfies(Check check) {
  alternatives_.back().push_back(std::move(check));
  return *this;
}

Case& Case::or_else() {
  alternatives_.emplace_back();
  return *this;
}

Case& Case::otherwise(std::string reason) {
  otherwise_ = std::move(reason);
  return *this;
}

Case& Case::unread_requests() {
  lints_backend_ = false;
  return *this;
}

bool Case::breaks_off() const {
  return std::ranges::any_of(acts_, [](const Act& act) {
    return act.kind == Act::Kind::half_close || act.kind == Act::Kind::leave;
  });
}

std::string Case::always_wrong_with(const Seen& seen) const {
  if (lints_backend_ && !seen.backend_trouble.empty()) {
    return shortened("the backend finds " + seen.backend_trouble);
  }
  if (seen.responses.size() > due_) {
    return std::to_string(seen.responses.size()) +
           " responses: " + in_words(statuses_of(seen.responses));
  }
  if (seen.responses.size() == due_ && due_ > 0 && !seen.rest.empty()) {
    return "behind the response: '" + shortened(seen.rest) + "'";
  }
  for (const Message& message : seen.responses) {
    if (std::string fault = fault_of_fields(message.fields); !fault.empty()) {
      return shortened("in the response: " + fault);
    }
  }
  return {};
}

std::string Case::wrong_with(const Seen& seen) const {
  if (std::string wrong = always_wrong_with(seen); !wrong.empty()) return wrong;
  std::string all;
  for (const auto& checks : alternatives_) {
    std::string wrong;
    for (const Check& check : checks) {
      wrong = check(seen);
      if (!wrong.empty()) break;
    }
    if (wrong.empty()) return {};
    all += (all.empty() ? "" : "; or ") + wrong;
  }
  return all;
}

Case must(std::string section, std::string sentence) {
  return {Level::must, std::move(section), std::move(sentence)};
}
Case should(std::string section, std::string sentence) {
  return {Level::should, std::move(section), std::move(sentence)};
}
Case may(std::string section, std::string sentence) {
  return {Level::may, std::move(section), std::move(sentence)};
}
Case ours(std::string sentence) { return {Level::ours, "ours", std::move(sentence)}; }

}  // namespace spillway::conformance

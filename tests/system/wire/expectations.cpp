// What a step may expect (step.hpp).
#include <algorithm>
#include <charconv>
#include <utility>

#include "system/wire/step.hpp"

namespace spillway::wire {

namespace {

std::string in_words(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

std::string in_words(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "'" : ", '") + text + "'";
  return all.empty() ? "missing" : all;
}

std::vector<int> statuses_of(const std::vector<Message>& messages) {
  std::vector<int> found;
  for (const Message& message : messages) found.push_back(message.status());
  return found;
}

std::vector<std::string> values(const Message& message, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& field : message.fields) {
    if (support::find({field}, name)) found.push_back(field.second);
  }
  return found;
}

// Whose message an expectation is about.
enum class Of { response, interim_response, request };

const Message* message_of(Of of, const Observation& seen) {
  switch (of) {
    case Of::response: return seen.responses.empty() ? nullptr : &seen.responses.back();
    case Of::interim_response: return seen.interim.empty() ? nullptr : &seen.interim.back();
    case Of::request: return seen.requests.empty() ? nullptr : &seen.requests.front();
  }
  return nullptr;
}

std::string_view name_of(Of of) {
  switch (of) {
    case Of::response: return "the response";
    case Of::interim_response: return "the interim response";
    case Of::request: return "the request";
  }
  return "";
}

using MessageExpectation = std::function<Verdict(const Message&)>;

Expectation on(Of of, MessageExpectation expectation) {
  return [of, expectation = std::move(expectation)](const Observation& seen) -> Verdict {
    if (const Message* message = message_of(of, seen)) return shown(expectation(*message));
    if (of == Of::response && !seen.rest.empty()) return shown("no whole response: " + seen.rest);
    return std::string(name_of(of)) + " is missing";
  };
}

Expectation has_values(Of of, std::string name, std::vector<std::string> expected) {
  return on(of, [=](const Message& message) -> Verdict {
    const auto found = values(message, name);
    return found == expected ? ""
                             : std::string(name_of(of)) + "'s " + name + " is " + in_words(found);
  });
}

Expectation has_part(Of of, std::string name, std::string part) {
  return on(of, [=](const Message& message) -> Verdict {
    const auto found = values(message, name);
    const bool there = std::ranges::any_of(
        found, [&](const std::string& value) { return value.find(part) != std::string::npos; });
    return there ? "" : std::string(name_of(of)) + "'s " + name + " is " + in_words(found);
  });
}

Verdict has_status(const std::vector<int>& any_of, const Message& response) {
  const int got = response.status();
  return std::ranges::count(any_of, got) > 0 ? "" : "status " + std::to_string(got);
}

}  // namespace

Step& Step::satisfies(Expectation expectation) {
  alternatives_.back().push_back(std::move(expectation));
  return *this;
}

Step& Step::or_else() {
  alternatives_.emplace_back();
  return *this;
}

Step& Step::succeeds() {
  status(200);
  has_default_status_ = true;
  return *this;
}

void Step::forget_default_status() {
  if (!std::exchange(has_default_status_, false)) return;
  alternatives_.front().erase(alternatives_.front().begin());
}

Step& Step::responses(std::size_t due) {
  due_ = due;
  return *this;
}

Step& Step::refused(std::vector<int> statuses) { return status(std::move(statuses)).requests(0); }

Step& Step::passes() { return status(200).requests(1); }

Step& Step::status(std::vector<int> any_of) {
  forget_default_status();
  return satisfies(on(Of::response, [any_of = std::move(any_of)](const Message& response) {
    return has_status(any_of, response);
  }));
}

Step& Step::any_status() {
  forget_default_status();
  return satisfies(on(Of::response, [](const Message&) { return Verdict(); }));
}

Step& Step::statuses(std::vector<int> in_order) {
  due_ = in_order.size();
  return satisfies([in_order = std::move(in_order)](const Observation& seen) -> Verdict {
    const auto got = statuses_of(seen.responses);
    return got == in_order ? "" : "statuses " + in_words(got);
  });
}

Step& Step::closed() {
  wants_closed_ = true;
  return satisfies([](const Observation& seen) -> Verdict {
    return seen.closed ? "" : "the connection stays open";
  });
}

Step& Step::open() {
  wants_open_ = true;
  return satisfies([](const Observation& seen) -> Verdict {
    return seen.stays_open ? "" : "the connection does not take another request";
  });
}

Step& Step::broken_off() {
  forget_default_status();
  due_ = 1;
  wants_closed_ = true;
  return satisfies([](const Observation& seen) -> Verdict {
    for (const int status : statuses_of(seen.responses)) {
      if (status != 502 && status != 504) {
        return "a complete response with status " + std::to_string(status);
      }
    }
    return seen.closed || !seen.responses.empty() ? "" : "the client is left waiting";
  });
}

Step& Step::body(std::string bytes) { return bodies({std::move(bytes)}); }

Step& Step::bodies(std::vector<std::string> in_order) {
  due_ = std::max(due_, in_order.size());
  return satisfies([in_order = std::move(in_order)](const Observation& seen) -> Verdict {
    std::vector<std::string> got;
    for (const Message& message : seen.responses) got.push_back(message.body);
    return got == in_order ? ""
                           : shown("got " + in_words(got) + " instead of " + in_words(in_order));
  });
}

Step& Step::with(std::string name) {
  return satisfies(on(Of::response, [name = std::move(name)](const Message& response) {
    return response.field(name) ? "" : "no " + name;
  }));
}

Step& Step::with(std::string name, std::string value) {
  return with_lines(std::move(name), {std::move(value)});
}

Step& Step::with_lines(std::string name, std::vector<std::string> expected) {
  return satisfies(has_values(Of::response, std::move(name), std::move(expected)));
}

Step& Step::with_part(std::string name, std::string part) {
  return satisfies(has_part(Of::response, std::move(name), std::move(part)));
}

Step& Step::without(std::string name) { return with_lines(std::move(name), {}); }

Step& Step::age(long least, long most) {
  return satisfies(on(Of::response, [least, most](const Message& response) -> Verdict {
    const auto found = values(response, "Age");
    if (found.size() != 1) return "Age is " + in_words(found);
    const char* const end = found[0].data() + found[0].size();
    long age = -1;
    const auto parsed = std::from_chars(found[0].data(), end, age);
    const bool is_number = parsed.ec == std::errc{} && parsed.ptr == end;
    return is_number && least <= age && age <= most ? "" : "Age is " + found[0];
  }));
}

Step& Step::interim(std::vector<int> in_order) {
  return satisfies([in_order = std::move(in_order)](const Observation& seen) -> Verdict {
    const auto got = statuses_of(seen.interim);
    return got == in_order ? "" : "interim responses: " + in_words(got);
  });
}

Step& Step::interim_with(std::string name, std::string value) {
  return satisfies(has_values(Of::interim_response, std::move(name), {std::move(value)}));
}

Step& Step::interim_without(std::string name) {
  return satisfies(has_values(Of::interim_response, std::move(name), {}));
}

Step& Step::untouched() {
  return satisfies([](const Observation& seen) -> Verdict {
    return seen.received.empty() ? "" : shown("the origin got '" + seen.received[0] + "'");
  });
}

Step& Step::requests(std::size_t complete) {
  return satisfies([complete](const Observation& seen) -> Verdict {
    if (seen.requests.size() == complete) return {};
    return std::to_string(seen.requests.size()) + " requests reached the origin";
  });
}

Step& Step::asked() { return requests(1); }

Step& Step::tried() {
  return satisfies([](const Observation& seen) -> Verdict {
    return seen.requests.empty() ? "the origin was not asked" : "";
  });
}

Step& Step::not_asked() {
  wants_stored_ = true;
  return requests(0);
}

Step& Step::refreshes() { return awaits_response().awaits_origin().tried(); }

Step& Step::asked_line(std::string start_line) {
  return satisfies(on(Of::request, [line = std::move(start_line)](const Message& request) {
    return request.start_line == line ? "" : "asked '" + request.start_line + "'";
  }));
}

Step& Step::asked_method_and_target(std::string both) {
  return satisfies(on(Of::request, [both = std::move(both)](const Message& request) {
    const bool same = request.method() + " " + request.target() == both;
    return same ? "" : "asked '" + request.start_line + "'";
  }));
}

Step& Step::asked_with(std::string name, std::string value) {
  return asked_lines(std::move(name), {std::move(value)});
}

Step& Step::asked_lines(std::string name, std::vector<std::string> expected) {
  return satisfies(has_values(Of::request, std::move(name), std::move(expected)));
}

Step& Step::asked_list(std::string name, std::string list) {
  return satisfies(
      on(Of::request, [name = std::move(name), list = std::move(list)](const Message& request) {
        const std::string all = joined(request.fields, name);
        return all == list ? "" : name + " is " + all;
      }));
}

Step& Step::asked_list_begins(std::string name, std::string begin) {
  return satisfies(
      on(Of::request, [name = std::move(name), begin = std::move(begin)](const Message& request) {
        const std::string all = joined(request.fields, name);
        return all.starts_with(begin) ? "" : name + " is " + all;
      }));
}

Step& Step::asked_part(std::string name, std::string part) {
  return satisfies(has_part(Of::request, std::move(name), std::move(part)));
}

Step& Step::asked_without(std::string name) { return asked_lines(std::move(name), {}); }

Step& Step::asked_raw(std::string line) {
  return satisfies([line = "\r\n" + std::move(line)](const Observation& seen) -> Verdict {
    for (const std::string& bytes : seen.received) {
      if (bytes.find(line) != std::string::npos) return {};
    }
    return shown("the origin got no " + line.substr(2));
  });
}

Step& Step::asked_body(std::string bytes) {
  return satisfies(on(Of::request, [bytes = std::move(bytes)](const Message& request) {
    return request.body == bytes ? "" : "asked with the body '" + request.body + "'";
  }));
}

Step& Step::whole() {
  return satisfies(on(Of::response, [](const Message& response) {
    const bool is_whole =
        response.body.starts_with("answer ") && response.body.size() == numbered_body(1).size();
    return is_whole ? "" : "got '" + response.body + "', which is no whole answer";
  }));
}

}  // namespace spillway::wire

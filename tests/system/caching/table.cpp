#include "system/caching/table.hpp"

#include <exception>

#include "support/raw_client.hpp"

namespace spillway::caching {

using support::Deadline;
using support::Expected;
using support::Milliseconds;
using support::RawClient;

namespace {

constexpr Milliseconds kUntilRefreshed{3000};

std::string base_of(const Case& play, const Subject& subject, std::size_t number) {
  const std::string& place =
      play.staleness == Staleness::as_said ? subject.as_said : subject.by_leave;
  return "/" + place + "/" + subject.name + "/" + std::to_string(number);
}

}  // namespace

// A case on its way at one subject.
class Play {
 public:
  Play(const Case& play, const Subject& subject, std::size_t number, Origin& origin)
      : case_(play), port_(subject.port), base_(base_of(play, subject, number)), origin_(origin) {
    origin_.take_part(base_, case_.origin);
  }

  bool ended() const { return next_ == case_.client.size() || !trouble_.empty(); }
  const std::string& trouble() const { return trouble_; }

  // To the end, or up to a step that is for later.
  void go_on() {
    for (bool first = true; !ended(); first = false) {
      const Step& step = case_.client[next_];
      if (step.later_ && !first) return;
      const Deadline deadline(kUntilRefreshed);
      std::string wrong = wrong_with(step);
      while (step.eventually_ && !wrong.empty() && !deadline.passed()) wrong = wrong_with(step);
      ++next_;
      if (!wrong.empty()) trouble_ = "step " + std::to_string(next_) + ": " + wrong;
    }
  }

 private:
  std::string wrong_with(const Step& step) {
    const std::size_t asked_before = origin_.times_asked(base_);
    Exchange exchange;
    exchange.response = response_to(step);
    if (step.refreshes_ && !origin_.wait_asked(base_, asked_before + 1, kUntilRefreshed)) {
      return "the origin was not asked afterwards either";
    }
    exchange.asked = origin_.asked(base_, asked_before);
    origin_.end_failure(base_);
    if (step.broken_off_) return exchange.response ? "it came whole" : "";
    if (!exchange.response) return "broken off";
    const int status = exchange.response->status();
    if (step.status_ && status != *step.status_) {
      return "status " + std::to_string(status) + " instead of " + std::to_string(*step.status_);
    }
    for (const Check& check : step.checks_) {
      if (std::string wrong = check(exchange); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::optional<Message> response_to(const Step& step) const {
    std::string request = step.method_ + " " + base_ + with_base(step.path_, base_) +
                          " HTTP/1.1\r\nHost: " + step.host_ + "\r\n";
    for (const std::string& line : step.lines_) request += with_base(line, base_) + "\r\n";
    if (!step.body_.empty()) {
      request += "Content-Length: " + std::to_string(step.body_.size()) + "\r\n";
    }
    request += "\r\n" + step.body_;
    try {
      RawClient client(port_);
      return client.send(request).read_response(step.method_ == "HEAD" ? Expected::head_only
                                                                       : Expected::response);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const Case& case_;
  std::uint16_t port_;
  std::string base_;
  Origin& origin_;
  std::size_t next_ = 0;
  std::string trouble_;
};

std::vector<Column> play(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                         Origin& origin, Milliseconds pause) {
  std::vector<std::vector<Play>> plays(subjects.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    for (std::size_t n = 0; n < cases.size(); ++n) {
      plays[i].emplace_back(cases[n], subjects[i], n, origin);
    }
  }
  const support::Event never;
  for (bool again = true; again;) {
    again = false;
    for (auto& column : plays) {
      for (Play& each : column) {
        each.go_on();
        again |= !each.ended();
      }
    }
    if (again) never.wait(pause);
  }
  std::vector<Column> columns;
  for (const auto& column : plays) {
    columns.emplace_back();
    for (const Play& each : column) columns.back().push_back(each.trouble());
  }
  return columns;
}

std::string printed(const std::vector<Case>& cases, const std::vector<Subject>& subjects,
                    const std::vector<Column>& columns) {
  std::vector<support::HeldRow> rows;
  for (const Case& each : cases)
    rows.push_back({each.sentence, each.section, each.level, each.otherwise});
  std::vector<support::HeldColumn> held;
  for (std::size_t i = 0; i < subjects.size(); ++i) held.push_back({subjects[i].name, columns[i]});
  return support::held_table(rows, held);
}

}  // namespace spillway::caching

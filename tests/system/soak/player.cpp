#include "system/soak/player.hpp"

#include <algorithm>
#include <chrono>

#include "system/soak/expected.hpp"

namespace spillway::soak {

namespace {

std::string shown(std::string_view text) {
  std::string result;
  for (const char byte : text.substr(0, 160)) {
    if (byte == '\n' || byte == '\r') {
      result += byte == '\n' ? "\\n" : "\\r";
    } else {
      result += byte >= ' ' && byte <= '~' ? byte : '.';
    }
  }
  return result;
}

bool says_close(const support::Message& answer) {
  const auto connection = answer.field("Connection");
  return (connection && *connection == "close") || answer.start_line.starts_with("HTTP/1.0") ||
         (!answer.field("Content-Length") && !answer.field("Transfer-Encoding") &&
          answer.status() != 304 && answer.status() != 204);
}

}  // namespace

Player::Player(Scene& in, Tally& tally, std::string_view kind, std::uint64_t seed)
    : scene(in),
      random(seed),
      tally_(tally),
      kind_(kind),
      seed_(seed),
      // The first hundred are of those who come from one address all the time.
      source_(static_cast<std::uint16_t>(100 + random.below(60'000))) {}

Wire Player::connect(int receive_buffer) { return Wire(scene.port, source_, receive_buffer); }

std::string Player::target(std::string_view route, std::string_view parameters) {
  return "/" + std::string(route) + "/" + std::string(kind_) + "-" + std::to_string(seed_) + "-" +
         std::to_string(asked_++) + "?" + std::string(parameters);
}

std::string Player::head(const Asked& asked, std::string_view version) {
  std::string text(asked.method);
  text.append(" ").append(asked.target).append(" ").append(version);
  text.append("\r\nHost: soak.example\r\n");
  if (!asked.language.empty()) text += "X-Language: " + asked.language + "\r\n";
  if (!asked.user.empty()) text += "Authorization: " + asked.user + "\r\n";
  return text + asked.more_lines;
}

std::string Player::request(const Asked& asked) {
  std::string text = head(asked);
  if (!asked.body.empty() || asked.method == "POST")
    text += "Content-Length: " + std::to_string(asked.body.size()) + "\r\n";
  return text + "\r\n" + asked.body;
}

bool Player::ask(Wire& wire, const Asked& asked) {
  wire.send(request(asked), kPatience);
  return take_answer(wire, asked);
}

bool Player::take_answer(Wire& wire, const Asked& asked, Milliseconds within) {
  const auto expected =
      asked.method == "HEAD" ? support::Expected::head_only : support::Expected::response;
  support::Message answer;
  const auto begin = std::chrono::steady_clock::now();
  Wire::Read read;
  do {
    read = wire.read(answer, expected, within);
  } while (read == Wire::Read::done && answer.status() >= 100 && answer.status() < 200);
  if (read == Wire::Read::late) {
    fail(End::hung, "no answer to " + asked.target + ", only: " + shown(wire.received()));
    return false;
  }
  if (read != Wire::Read::done) {
    if (asked.may_end || scene.draining) {
      count(End::ended);
    } else {
      const auto waited =
          std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
      fail(End::wrong, std::string(read == Wire::Read::reset ? "reset" : "closed") +
                           " instead of an answer to " + asked.target + ", " +
                           std::to_string(asked.more_lines.size()) + " bytes of fields, after " +
                           std::to_string(waited.count()) + " ms and " +
                           std::to_string(wire.received().size()) +
                           " bytes: " + shown(wire.received()));
    }
    return false;
  }
  std::string why;
  const End end = judge(asked, answer, why);
  if (end == End::wrong) {
    fail(end, why + " to " + std::string(asked.method) + " " + asked.target + ": " +
                  answer.start_line + ", " + std::to_string(answer.body.size()) +
                  " bytes: " + shown(answer.body));
  } else {
    count(end);
  }
  return end != End::wrong && !says_close(answer);
}

End Player::judge(const Asked& asked, const support::Message& answer, std::string& why) const {
  const int status = answer.status();
  const bool allowed = asked.may_refuse || scene.draining;
  if (answer.field(kPreparedField)) {
    why = "a prepared answer";
    return allowed ? End::prepared : End::wrong;
  }
  if (asked.has_condition && status == 304) return End::right;
  if (!answer.field(kBackendField)) {
    why = "an answer of the proxy's own";
    return allowed && status >= 400 && answer.field("X-Request-Id") ? End::refused : End::wrong;
  }
  why = "a wrong status";
  if (status != 200) return End::wrong;
  if (asked.method == "HEAD") return End::right;
  why = "a wrong body";
  const bool has_receipt = asked.method != "GET" && parameter(asked.target, "fault").empty();
  if (has_receipt) {
    const bool is_read = parameter(asked.target, "early").empty();
    const std::string_view body = is_read ? std::string_view(asked.body) : std::string_view{};
    return answer.body == receipt(asked.target, body) ? End::right : End::wrong;
  }
  const std::string line = line_of(asked.target, asked.language, asked.user);
  return is_body_of(line, number(asked.target, "size", 64), answer.body) ? End::right : End::wrong;
}

void Player::take_end(Wire& wire, Milliseconds within) {
  if (wire.read_to_end(within) == Wire::Read::late) {
    fail(End::hung, "left open, after: " + shown(wire.received()));
  }
}

void Player::fail(End end, const std::string& what) {
  count(end);
  scene.failures.add(std::string(kind_) + ", session " + std::to_string(seed_) + ": " + what);
}

bool Player::pause(std::size_t milliseconds) const {
  return !scene.ending.wait(Milliseconds{milliseconds});
}

}  // namespace spillway::soak

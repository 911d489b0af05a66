// Who goes on at the entrance of a route, who is told to wait, and with what each of them comes
// again. The visitors are programs, which show what they carry in a field.
#include "proxy/visitors/entrance.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/proxy/request/lone_request.hpp"
#include "unit/proxy/request/scripted_session.hpp"

namespace spillway::proxy {
namespace {

using nlohmann::json;
using std::chrono::seconds;

config::Config with_room(const json& changes) {
  json all = settings({{"strategy", "allow"}});
  json room{{"active_sessions", 1}, {"secure_cookie", false}};
  room.update(changes);
  all["routes"][0]["waiting_room"] = room;
  return support::checked(all);
}

enum class Met { goes_on, waits, is_refused };

// One request of a visitor, with the token that it carries.
struct Visited {
  explicit Visited(Process& its_process, std::string_view token = {}, std::string_view fields = {},
                   std::string_view line = "GET /a HTTP/1.1")
      : process(its_process),
        session(std::string(line) + "\r\nHost: h\r\n" + std::string(fields) +
                    (token.empty() ? "" : "Spillway-Ticket: " + std::string(token) + "\r\n") +
                    "\r\n",
                kAnyNumber),
        request(RequestContext::Kind::live, *process.generation, session.request(),
                session.client(), process.services.now()),
        tokens(request, session),
        entrance(process.services, request, parking, tokens, response) {
    REQUIRE(http::request_framing(session.request()) == http::Error::none);
    request.classification = classification_of(request);
    REQUIRE(tokens.take() == http::Error::none);
    was_let_by = entrance.lets_pass();
  }

  Met enters() { return was_let_by ? Met::goes_on : met(entrance.enter()); }
  Met looks_in() { return was_let_by ? Met::goes_on : met(entrance.look_in()); }
  void ends(VisitorSessionEnd how) {
    [](Visited& its, VisitorSessionEnd end) -> Detached { co_await its.entrance.end_session(end); }(
                                                *this, how);
  }
  // What it carries from then on.
  std::string token() const {
    const std::string_view field = "Spillway-Ticket: ";
    for (const std::string_view lines : {request.pass_lines, std::string_view(response.lines)}) {
      const std::size_t at = lines.find(field);
      if (at == lines.npos) continue;
      const std::size_t from = at + field.size();
      return std::string(lines.substr(from, lines.find("\r\n", from) - from));
    }
    return {};
  }
  char kind() const { return token().empty() ? '-' : token().front(); }

  Process& process;
  ScriptedSession session;
  Parking parking;
  RequestContext request;
  LocalReply response;
  VisitorTokens tokens;
  Entrance entrance;
  bool was_let_by = false;
  std::optional<Fault> fault;

 private:
  Met met(Task<std::optional<Answer>> asked) {
    std::optional<std::optional<Answer>> told;
    [](Task<std::optional<Answer>> task, std::optional<std::optional<Answer>>& into) -> Detached {
      std::optional<Answer> got = co_await task;
      into = std::move(got);
    }(std::move(asked), told);
    REQUIRE(told);  // nothing is waited for where no other proxy shares the room
    if (!*told) return Met::goes_on;
    if (const Fault* const its = fault_in(**told)) fault = *its;
    return fault ? Met::is_refused : Met::waits;
  }
};

const char kHasTicket = static_cast<char>(waiting::TokenKind::ticket);

SharedWaitingRoom& room_of(Process& process) {
  return *process.generation->waiting_room(RouteId{});
}

// As its upstream's ticks do: who may come in is called.
void call_visitors(Process& process) {
  const auto& its = *process.generation->config().routes[0].waiting_room;
  for (int n = 1; n <= 20; ++n)
    room_of(process).tick(its, {}, process.services.now() + Milliseconds(100 * n));
}

}  // namespace

TEST_CASE("a route without a waiting room lets all by") {
  Process process;
  Visited visitor(process);
  CHECK(visitor.was_let_by);
  CHECK_FALSE(visitor.entrance.session().is_open);
}

TEST_CASE("where none enters without a ticket the first visitor waits, too") {
  Process process(with_room({{"when", "always"}}));
  Visited first(process);
  CHECK(first.enters() == Met::waits);
  Visited second(process, first.token());
  CHECK(second.enters() == Met::waits);
  CHECK(second.kind() == kHasTicket);
  call_visitors(process);
  Visited called(process, second.token());
  CHECK(called.enters() == Met::goes_on);
}

}  // namespace spillway::proxy

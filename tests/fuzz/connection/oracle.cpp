#include "fuzz/connection/oracle.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/chunk_reference.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/connection/promises.hpp"
#include "fuzz/connection/reading.hpp"
#include "fuzz/connection/stored_answers.hpp"
#include "fuzz/plain_head.hpp"

namespace spillway::fuzz {
namespace {

using std::string_view;
using Kind = http::Framing::Kind;

constexpr std::uint64_t kBodyLimit = 90'000;  // limits.body_bytes of the world

using AllSent = std::array<SentRequests, kClients>;

struct Place {
  std::size_t client;
  std::size_t turn;
};

bool is_beginning_of(string_view part, string_view whole) { return whole.starts_with(part); }

// --- the server

// What is stored is asked for anew with GET, by a HEAD too.
bool is_of_method(string_view head, const std::string& method) {
  return head.starts_with(method + " ") ||
         (method == "HEAD" && head.starts_with("GET ") && has_shared_target(head));
}

// Where a client sent it. The method tells requests with the same mark apart: what was slipped in
// has one mark for all, and the end of a body that is too long becomes part of the next method.
std::optional<Place> place_of(const AllSent& sent, unsigned id, string_view head) {
  for (std::size_t client = 0; client < kClients; ++client) {
    const auto& requests = sent[client].requests;
    for (std::size_t turn = 0; turn < requests.size(); ++turn) {
      if (requests[turn].id == id && is_of_method(head, requests[turn].method))
        return Place{client, turn};
    }
  }
  return std::nullopt;
}

// An edit may end a head before its marks.
bool is_sent_without_mark(const AllSent& sent, string_view head) {
  return std::any_of(sent.begin(), sent.end(), [&](const SentRequests& by_client) {
    return std::any_of(by_client.requests.begin(), by_client.requests.end(),
                       [&](const SentRequest& request) {
                         return request.marks.empty() && is_of_method(head, request.method);
                       });
  });
}

void check_arrival(const Arrival& arrival, const SentRequest& sent) {
  const string_view line = string_view(arrival.head).substr(0, arrival.head.find("\r\n"));
  require(is_of_method(arrival.head, sent.method) && line.ends_with(" HTTP/1.1"),
          "the method is as sent", line);
  for (const unsigned id : marks_in(arrival.head, 'q')) {
    const bool is_its = std::find(sent.marks.begin(), sent.marks.end(), id) != sent.marks.end();
    require(is_its, "a head holds nothing of another request", arrival.head);
  }
  require(marks_in(arrival.head, 'a').empty(), "a head holds nothing of an answer", arrival.head);
  if (arrival.is_complete) {
    require(sent.is_complete, "what the client did not complete is not complete", arrival.head);
    require(arrival.content == sent.content, "the content is as sent", arrival.head);
  } else {
    require(is_beginning_of(arrival.content, sent.content), "the content begins as sent",
            arrival.head);
  }
}

// What a server sent behind the head of its 101 (Switching Protocols); nothing if it sent none.
std::optional<string_view> sent_into_tunnel(const Arrival& arrival) {
  const string_view sent = string_view(arrival.answer).substr(0, arrival.answer_sent);
  const std::size_t end = sent.find("\r\n\r\n");
  if (!arrival.is_tunnel || !sent.starts_with("HTTP/1.1 101 ") || end == sent.npos)
    return std::nullopt;
  return sent.substr(end + 4);
}

// Bytes behind the request that asked for the tunnel: all of them where all is right.
void check_tunnel(const Arrival& arrival, const SentRequest& request, const Client& client,
                  bool all_is_right) {
  const string_view behind = string_view(client.written).substr(0, client.sent).substr(request.end);
  require(request.is_complete && is_beginning_of(arrival.tunnelled, behind),
          "a tunnel brings what the client sent", arrival.tunnelled);
  require(!all_is_right || arrival.tunnelled == behind, "all of it", arrival.tunnelled);
}

void check_server(const World& world, const AllSent& sent, bool all_is_right) {
  std::map<std::pair<std::size_t, std::size_t>, const Arrival*> before;  // by client and turn
  std::array<std::size_t, kClients> turns{};
  std::array<bool, kClients> has_tunnel{};
  for (const Arrival& arrival : world.arrivals()) {
    const std::vector<unsigned> ids = marks_in(arrival.head, 'q');
    if (ids.empty()) {
      require(is_sent_without_mark(sent, arrival.head), "a request has its mark", arrival.head);
      continue;
    }
    const std::optional<Place> found = place_of(sent, ids.front(), arrival.head);
    require(found.has_value(), "a client sent this request", arrival.head);
    const Place& place = *found;
    const SentRequest& request = sent[place.client].requests[place.turn];
    check_arrival(arrival, request);
    if (request.id == kSlippedIn) continue;
    require(!has_tunnel[place.client], "what is sent into a tunnel is no request", arrival.head);
    if (sent_into_tunnel(arrival)) {
      check_tunnel(arrival, request, world.clients()[place.client], all_is_right);
      has_tunnel[place.client] = !arrival.tunnelled.empty();
    }
    // What is stored may be asked for anew once its request has its answer.
    if (!has_shared_target(arrival.head)) {
      require(place.turn >= turns[place.client], "requests keep their order", arrival.head);
      turns[place.client] = place.turn;
    }
    const Arrival*& former = before[{place.client, place.turn}];
    if (former != nullptr) {
      require(is_idempotent(request.method), "only what is idempotent is sent again", arrival.head);
      require(former->answer_sent == 0 && former->has_server_closed,
              "it is sent again where no byte of an answer came and the connection broke",
              arrival.head);
    }
    former = &arrival;
  }
}

// --- a client

struct Received {
  unsigned status = 0;
  string_view head;
  string_view content;  // of a chunked one: in `decoded`
  std::string decoded;
  bool is_own = false;
  bool is_framed = true;  // else it ends with the connection
  bool is_complete = false;
  bool persists = true;
  std::uint64_t length = 0;  // by its Content-Length
  std::size_t size = 0;
};

unsigned status_of(string_view line) {
  require(line.size() >= 13 && line.starts_with("HTTP/1.1 ") && line[12] == ' ',
          "an answer has a status line", line);
  return static_cast<unsigned>(std::stoul(std::string(line.substr(9, 3))));
}

bool is_problem(const PlainHead& head) {
  for (const PlainField& field : head.fields) {
    if (field.value == "application/problem+json") return true;
    if (field.name == "Proxy-Status" && field.value.starts_with("spillway;")) return true;
  }
  return false;
}

// `text` begins with a whole head.
Received read_received(string_view text, bool is_to_head) {
  Received answer;
  answer.head = text.substr(0, text.find("\r\n\r\n") + 4);
  const PlainHead head = plain_head(answer.head);
  answer.status = status_of(head.start_line);
  const http::Framing framing = plain_framing(head);
  answer.length = framing.length;
  answer.is_own = is_problem(head);
  for (const PlainField& field : head.fields) {
    if (field.name == "Connection" && field.value.find("close") != string_view::npos)
      answer.persists = false;
  }
  const string_view rest = text.substr(answer.head.size());
  const bool is_bodiless =
      is_to_head || answer.status < 200 || answer.status == 204 || answer.status == 304;
  std::size_t size = 0;
  if (is_bodiless) {
    answer.is_complete = true;
  } else if (framing.kind == Kind::chunked) {
    Decoded decoded = decode_chunked(rest, UINT64_MAX, false);
    require(decoded.verdict != Decoded::Verdict::refused, "an answer's chunks are right", rest);
    answer.decoded = std::move(decoded.content);
    answer.is_complete = decoded.verdict == Decoded::Verdict::complete;
    size = answer.is_complete ? decoded.consumed : rest.size();
  } else if (head.count("Content-Length") > 0) {
    answer.content = rest.substr(0, framing.length);
    answer.is_complete = answer.content.size() == framing.length;
    size = answer.content.size();
  } else {
    answer.content = rest;
    answer.is_framed = answer.persists = false;
    size = rest.size();
  }
  answer.size = answer.head.size() + size;
  return answer;
}

class ClientCheck {
 public:
  ClientCheck(const Client& client, const SentRequests& sent, const std::list<Arrival>& arrivals,
              bool all_is_right)
      : client_(client), sent_(sent), arrivals_(arrivals), all_is_right_(all_is_right) {}

  void run() {
    string_view rest = client_.received;
    std::size_t turn = 0;
    bool persists = true;
    while (!rest.empty()) {
      require(persists, "nothing follows the last answer", rest);
      if (rest.find("\r\n\r\n") == rest.npos) return check_cut_off_head(rest, turn);
      const bool is_of_request = turn < sent_.requests.size();
      require(is_of_request || (turn == sent_.requests.size() && sent_.has_tail),
              "no more answers than requests", rest);
      const SentRequest* const request = is_of_request ? &sent_.requests[turn] : nullptr;
      const bool is_to_head = request != nullptr ? request->method == "HEAD" : false;
      const Received answer = read_received(rest, is_to_head);
      rest.remove_prefix(answer.size);
      if (answer.status == 101) return check_tunnel(answer, request, rest);
      if (answer.status < 200) {
        check_interim(answer, request);
        continue;
      }
      answer.is_own ? check_own(answer, request) : check_relayed(answer, request);
      persists = answer.persists && answer.is_complete;
      // The proxy timed out before it had read the method, so it sent a body in answer to HEAD.
      if (is_to_head && answer.is_own && !persists && rest.size() == answer.length) rest = {};
      ++turn;
    }
    if (turn == 0) check_first_answered();
    const bool has_next = turn < sent_.requests.size() && sent_.requests[turn].is_complete;
    require(!all_is_right_ || !persists || !has_next, "each request gets its answer",
            client_.received);
  }

 private:
  void check_cut_off_head(string_view rest, std::size_t turn) {
    require(client_.has_ended || client_.has_left, "a head that is cut off is the last", rest);
    require(turn <= sent_.requests.size(), "no more answers than requests", rest);
  }

  void check_interim(const Received& answer, const SentRequest* request) {
    require(request != nullptr && request->version == 11, "an interim answer to HTTP/1.1",
            answer.head);
    check_marks(answer.head, 'a', request->id);
  }

  // `rest`: all that follows.
  void check_tunnel(const Received& answer, const SentRequest* request, string_view rest) {
    require(request != nullptr && asks_for_tunnel(request->head),
            "protocols are switched where that was asked for", answer.head);
    check_marks(answer.head, 'a', request->id);
    const bool is_its = std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& from) {
      const auto sent = sent_into_tunnel(from);
      if (!sent || !may_be_of(from, *request)) return false;
      return all_is_right_ ? rest == *sent : is_beginning_of(rest, *sent);
    });
    require(is_its, "a tunnel brings what the server sent", rest);
  }

  void check_own(const Received& answer, const SentRequest* request) {
    require(answer.is_framed, "the proxy's own answers have a length", answer.head);
    const std::string all = std::string(answer.head) + std::string(answer.content);
    require(marks_in(all, 'a').empty(), "the proxy's own answers hold nothing of another", all);
    for (const unsigned id : marks_in(all, 'q'))
      require(request != nullptr && id == request->id, "nor of a request", all);
    require(answer.is_complete || client_.has_ended || client_.has_left, "it is whole", all);
    const bool is_complete = request != nullptr && request->is_complete;
    require(!all_is_right_ || !is_complete,
            "a request without fault to a server without fault gets the server's answer", all);
  }

  void check_relayed(const Received& answer, const SentRequest* request) {
    require(request != nullptr, "what is no request gets the proxy's own answer", answer.head);
    const string_view content = answer.decoded.empty() ? answer.content : answer.decoded;
    if (may_be_stored({answer.status, content, answer.is_complete}, *request, arrivals_))
      return check_shared_marks(answer.head, *request);
    check_marks(answer.head, 'a', request->id);
    bool is_whole = answer.is_framed;
    const auto like = std::count_if(arrivals_.begin(), arrivals_.end(), [&](const Arrival& from) {
      if (!may_be_of(from, *request)) return false;
      const SentAnswer given = read_answer(string_view(from.answer).substr(0, from.answer_sent),
                                           from.head.starts_with("HEAD "), from.has_server_closed);
      if (!given.is_valid || given.status != answer.status) return false;
      if (answer.is_complete) return given.is_complete && given.content == content;
      is_whole = is_whole || (given.is_complete && given.content == content);
      return is_beginning_of(content, given.content);
    });
    require(like > 0, "an answer is what the server sent for this request", answer.head);
    require(is_whole || client_.was_reset || client_.has_left,
            "what only ends with the connection is reset where it was cut off", answer.head);
  }

  static bool may_be_of(const Arrival& from, const SentRequest& request) {
    const std::vector<unsigned> ids = marks_in(from.head, 'q');
    return ids.empty() ? request.marks.empty() : ids.front() == request.id;
  }

  static void check_marks(string_view text, char kind, unsigned its) {
    for (const unsigned id : marks_in(text, kind)) {
      require(id == its || id == kSlippedIn, "an answer's head holds nothing of another", text);
    }
  }

  // Those of the stored answer, or of one that says that it is still good.
  void check_shared_marks(string_view head, const SentRequest& request) {
    for (const unsigned id : marks_in(head, 'a')) {
      const bool is_of_like =
          std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& from) {
            const std::vector<unsigned> ids = marks_in(from.head, 'q');
            const unsigned its = ids.empty() ? 0 : ids.front();  // as the server marks it
            return its == id && are_alike(from.head, request.head);
          });
      require(is_of_like || id == kSlippedIn, "a stored answer holds nothing of another", head);
    }
  }

  void check_first_answered() {
    const bool stays = !client_.has_left && !client_.half_closes;
    const bool has_asked = !sent_.requests.empty() && sent_.requests.front().is_complete;
    require(!stays || !has_asked || client_.was_reset, "a client that stays gets an answer");
  }

  const Client& client_;
  const SentRequests& sent_;
  const std::list<Arrival>& arrivals_;
  const bool all_is_right_;
};

}  // namespace

void check_both_sides(const World& world, const Script& script) {
  const bool all_is_right = keeps_every_promise(script);
  AllSent sent;
  for (std::size_t n = 0; n < kClients; ++n) {
    const Client& client = world.clients()[n];
    sent[n] = read_requests(string_view(client.written).substr(0, client.sent), kBodyLimit);
  }
  check_server(world, sent, all_is_right);
  for (std::size_t n = 0; n < kClients; ++n)
    ClientCheck(world.clients()[n], sent[n], world.arrivals(), all_is_right).run();
}

}  // namespace spillway::fuzz

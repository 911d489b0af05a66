#include "system/fleet/line.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "support/proxy_under_test.hpp"

namespace spillway::support {

using nlohmann::json;

namespace {

constexpr Milliseconds kGivesUp{1'500};
constexpr Milliseconds kBetween{120};  // requests of one guest

std::string id_in(const Message& request) {
  const std::string pass = request.field("Spillway-Pass").value_or("");
  const std::size_t at = pass.find("id=");
  return at == std::string::npos ? "" : pass.substr(at + 3, 32);
}

}  // namespace

SharedShop::SharedShop()
    : peer_([this](PeerConnection& proxy) {
        while (const auto request = proxy.read_request()) {
          {
            const std::lock_guard lock(mutex_);
            ids_.insert(id_in(*request));
          }
          proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin");
        }
      }) {}

std::set<std::string> SharedShop::ids() const {
  const std::lock_guard lock(mutex_);
  return ids_;
}

json shared_sale(const std::string& url, const std::string& shop, json room) {
  room.merge_patch({{"secure_cookie", false}, {"poll", {{"min_ms", 1000}, {"max_ms", 2000}}}});
  return configuration({shop}, {{"store", {{"url", url}}},
                                {"log", {{"level", "error"}}},
                                {"routes",
                                 {{{"name", "sale"},
                                   {"match", {{"path", "/sale/**"}}},
                                   {"class", "P1"},
                                   {"waiting_room", std::move(room)}}}}});
}

std::optional<Message> Guest::ask(std::uint16_t port, std::string_view method,
                                  std::string_view target, bool navigates) {
  const std::string cookie = jar_.empty() ? "" : "Cookie: " + jar_ + "\r\n";
  const std::string kind =
      navigates ? "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
                : "Sec-Fetch-Mode: cors\r\nSpillway-Leave: 1\r\n";
  try {
    RawClient client(port);
    client.send(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" +
                cookie + kind + "\r\n");
    Message answer = client.read_response(Expected::response, kGivesUp);
    if (const auto set = answer.field("Set-Cookie")) jar_ = set->substr(0, set->find(';'));
    return answer;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string Guest::poll(std::uint16_t port) {
  const auto answer = ask(port, "GET", "/_spillway/rooms/sale/ticket", false);
  position_ = 0;
  if (!answer || answer->status() != 200) return "";
  const json told = json::parse(answer->body);
  if (told.contains("id")) id_ = told["id"].get<std::string>();
  position_ = told.value("position", std::int64_t{0});
  return told.value("state", "");
}

bool Guest::leave(std::uint16_t port) {
  const auto answer = ask(port, "POST", "/_spillway/rooms/sale/leave", false);
  return answer && (answer->status() < 300 || answer->status() == 404);
}

char Guest::holds() const {
  constexpr std::string_view kName = "spillway-sale=";
  return jar_.starts_with(kName) && jar_.size() > kName.size() ? jar_[kName.size()] : '\0';
}

json look(std::uint16_t port, const std::string& id) {
  try {
    RawClient client(port);
    const Message answer = client.ask(get("/_spillway/rooms/sale/tickets/" + id));
    return answer.status() == 200 ? json::parse(answer.body) : json();
  } catch (const std::exception&) {
    return {};
  }
}

std::int64_t position(std::uint16_t port, const std::string& id) {
  const json told = look(port, id);
  return told.is_object() ? told.value("position", std::int64_t{0}) : 0;
}

GuestCrowd::GuestCrowd(std::vector<std::uint16_t> ports, std::size_t guests)
    : ports_(std::move(ports)) {
  for (std::size_t number = 0; number < guests; ++number)
    guests_.emplace_back([this, number] { play(number); });
}

GuestCrowd::~GuestCrowd() {
  is_over_ = true;
  ended_.set();
  for (std::thread& guest : guests_) guest.join();
}

void GuestCrowd::enter(const std::string& id) {
  const std::size_t inside = ++inside_;
  std::size_t most = most_inside_;
  while (inside > most && !most_inside_.compare_exchange_weak(most, inside)) {
  }
  const std::lock_guard lock(mutex_);
  ids_.insert(id);
  waiting_.erase(id);
  times_.push_back(std::chrono::steady_clock::now());
  ++entered_;
}

void GuestCrowd::wait(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!id.empty()) waiting_.insert(id);
}

// An answer that does not come sends it to another proxy, as a balancer would.
void GuestCrowd::play(std::size_t number) {
  std::mt19937 random(static_cast<unsigned>(number) + 1);
  Guest guest;
  std::size_t at = number;
  const auto port = [&] { return ports_[at % ports_.size()]; };
  const auto pause = [&] { ended_.wait(kBetween); };
  for (Milliseconds polls{0}; may_go_on(); pause()) {
    if (random() % 4 == 0) ++at;
    const auto answer = guest.visit(port());
    if (!answer) {
      ++at;
      continue;
    }
    if (answer->status() == 200) break;
    std::string state = guest.poll(port());
    wait(guest.id());
    for (; may_go_on() && state != "processing" && state != "closed"; state = guest.poll(port())) {
      if (state == "expired" || state == "cancelled") ++lost_;
      if (state == "arrived" && guest.holds() != 't') break;
      ended_.wait(Milliseconds{600});
      if (state.empty() || random() % 4 == 0) ++at;
    }
  }
  if (!may_go_on()) return;
  std::string id = guest.id();
  enter(id);
  for (int n = 0; n < 3 && may_go_on(); ++n) {
    pause();
    const auto again = guest.visit(port());
    if (!again) ++at;
    if (again && again->status() != 200) ++lost_;
  }
  --inside_;
  while (may_go_on() && !guest.leave(port())) ++at;
}

std::set<std::string> GuestCrowd::ids() const {
  const std::lock_guard lock(mutex_);
  return ids_;
}

std::set<std::string> GuestCrowd::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

std::size_t GuestCrowd::most_in_a_minute() const {
  const std::lock_guard lock(mutex_);
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < times_.size(); ++last) {
    while (times_[last] - times_[first] > std::chrono::seconds(60)) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

bool GuestCrowd::comes_to_have_entered(std::size_t guests, Milliseconds within) const {
  const Deadline deadline(within);
  while (entered_ < guests && !deadline.passed()) ended_.wait(Milliseconds{20});
  return entered_ >= guests;
}

}  // namespace spillway::support

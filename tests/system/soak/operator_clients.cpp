// The operator, who looks at every page and forgets what is stored now and then.
#include <array>
#include <string>

#include "system/soak/clients.hpp"

namespace spillway::soak {

namespace {

constexpr std::array<std::string_view, 5> kPages{"/metrics", "/state", "/config", "/healthz",
                                                 "/readyz"};

}  // namespace

void scrape(Player& player) {
  Random& random = player.random;
  Wire wire(player.scene.admin_port, 7);
  for (std::size_t left = random.between(1, 10); left > 0 && player.pause(200); --left) {
    const bool purges = random.chance(0.05);
    const std::string_view page = purges ? "/cache/purge" : random.pick(kPages);
    const std::string body = R"({"route": "cached"})";
    std::string text =
        (purges ? "POST " : "GET ") + std::string(page) + " HTTP/1.1\r\nHost: localhost\r\n";
    if (purges)
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body;
    else
      text += "\r\n";
    wire.send(text, kPatience);
    support::Message answer;
    const Wire::Read read = wire.read(answer, support::Expected::response, kPatience);
    if (read == Wire::Read::late) return player.fail(End::hung, "no " + std::string(page));
    if (read != Wire::Read::done) {
      if (player.scene.draining) return player.count(End::ended);
      return player.fail(End::wrong, "closed instead of " + std::string(page));
    }
    const bool may_be_unready = page == "/readyz" && answer.status() == 503;
    if (answer.status() != 200 && !may_be_unready)
      return player.fail(End::wrong,
                         std::string(page) + ": " + answer.start_line + " " + answer.body);
    player.count(End::right);
  }
}

}  // namespace spillway::soak

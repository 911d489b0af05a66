// An upstream whose answers may be stored, and configurations that store them.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "system/integration/overloaded.hpp"

namespace spillway::support {

// Answers /fail and failing() with 500; to anything else it says which of its answers this is ("1",
// "2", ...). Of the target the query says with what fields: "?age=60" max-age, "?old" stale by ten
// seconds already,
// "?etag" an ETag, "?secret" private, "?public" public, "?held" waits for `go`. Answers a condition
// that its ETag meets with 304.
struct Origin {
  Event go;
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const std::string target = request->target();
      const auto has = [&](std::string_view word) {
        return target.find(word) != std::string::npos;
      };
      if (has("held") && !proxy.wait(go)) return;
      if (!proxy.send(answer(*request, target, has))) return;
    }
  }};
  std::atomic<int> answers = 0;      // but for /fail and /probe
  std::atomic<bool> broken = false;  // 500 to everything

  std::string answer(const Message& request, const std::string& target, const auto& has) {
    if (broken || target == "/fail" || request.field("X-Fail"))
      return "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n";
    if (target == "/probe") return ok(target);
    const int number = ++answers;
    std::string lines;
    const std::size_t age = target.find("age=");
    if (age != std::string::npos)
      lines +=
          "Cache-Control: max-age=" + std::to_string(std::stoi(target.substr(age + 4))) + "\r\n";
    if (has("old")) lines += "Cache-Control: max-age=10\r\nAge: 20\r\n";
    if (has("secret")) lines += "Cache-Control: private\r\n";
    if (has("public")) lines += "Cache-Control: public, max-age=60\r\n";
    if (has("etag")) {
      lines += "ETag: \"e\"\r\n";
      if (request.field("If-None-Match") == "\"e\"")
        return "HTTP/1.1 304 Not Modified\r\n" + lines + "\r\n";
    }
    return ok(std::to_string(number), lines);
  }

  bool answered(int times) const {
    const Deadline deadline;
    while (answers < times && !deadline.passed()) std::this_thread::yield();
    return answers == times;
  }
};

inline nlohmann::json cache(nlohmann::json changes = nlohmann::json::object()) {
  nlohmann::json settings = {{"max_bytes", 1 << 20}, {"max_entry_bytes", 1 << 16}};
  settings.update(changes);
  return settings;
}

// /NAME is of class P1, with a cache and this rule.
inline nlohmann::json cached_route(const std::string& name,
                                   const nlohmann::json& rule = nlohmann::json::object(),
                                   const nlohmann::json& settings = cache()) {
  nlohmann::json all = route(name, "P1", rule.is_null() ? nlohmann::json::object() : rule);
  all["match"]["path"] = "/" + name + "/**";
  all["cache"] = settings;
  return all;
}

// One sample of a route's counter.
inline std::string lookups(std::string_view route, std::string_view result) {
  return "spillway_cache_lookups_total{route=\"" + std::string(route) + "\",result=\"" +
         std::string(result) + "\"}";
}
inline std::string refreshes(std::string_view route, std::string_view result) {
  return "spillway_cache_refreshes_total{route=\"" + std::string(route) + "\",result=\"" +
         std::string(result) + "\"}";
}

inline std::string field(const Message& answer, std::string_view name) {
  return answer.field(name).value_or("(none)");
}

}  // namespace spillway::support

// Clients that send or take bodies slowly hold no slot: what memory has no room for goes to
// temporary files.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "support/event.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "support/temporary_directory.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

constexpr const char* kSlotsTaken = R"(spillway_inflight{upstream="app"})";
constexpr const char* kInFiles = "spillway_temp_file_bytes";
constexpr const char* kOverLimit = R"(spillway_temp_files_unavailable_total{reason="limit"})";
constexpr const char* kFailed = R"(spillway_temp_files_unavailable_total{reason="error"})";
constexpr int kSlow = 16;

// Sixteen slots, and files in a directory of its own.
struct Files {
  TemporaryDirectory directory;

  json settings(const json& limits = json::object()) const {
    json result =
        never_shed({{"dispatch", {{"concurrency", kSlow}}},
                    {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                    {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}},
                    {"limits", {{"temp_file_directory", directory.path().string()}}}});
    result["limits"].merge_patch(limits);
    return result;
  }
};

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// More than a connection's buffers and the memory for one body hold.
std::string large_body() { return noise(12'000'000, 1); }

// Answers "/quick" with "done", another GET with this body, and a POST with its own.
ScriptedPeer::Script answering(const std::string& body) {
  return [&body](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const bool echoes = request->method() == "POST";
      const std::string_view answer =
          echoes ? std::string_view(request->body)
                 : (request->target() == "/quick" ? std::string_view("done") : body);
      if (!proxy.send(ok(answer))) return;
    }
  };
}

std::string in_chunks(const std::string& body) {
  std::string all;
  for (std::size_t at = 0; at < body.size(); at += 50'000) {
    const std::string piece = body.substr(at, 50'000);
    const std::string framed = chunked({piece});
    all += framed.substr(0, framed.size() - 5);  // the last chunk comes once
  }
  return all + "0\r\n\r\n";
}

}  // namespace

TEST_CASE("clients that take large responses slowly hold no slot, and get every byte") {
  const std::string body = large_body();
  ScriptedPeer peer(answering(body));
  const Files files;
  const ProxyUnderTest proxy(peer.address(), files.settings());
  std::vector<RawClient> dawdlers;
  for (int n = 0; n < kSlow; ++n) dawdlers.emplace_back(proxy.port(), 4096).send(get("/large"));
  for (RawClient& one : dawdlers) CHECK(one.read_head().status() == 200);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 0));
  CHECK(proxy.metric(kInFiles) > 0);
  CHECK(std::filesystem::is_empty(files.directory.path()));  // they have no names
  CHECK(RawClient(proxy.port()).ask(get("/quick")).body == "done");
  for (int n = 0; n < 3; ++n) CHECK((dawdlers[n].read_bytes(body.size()) == body));
  CHECK(proxy.metric("spillway_temp_files_total") == kSlow);
  dawdlers.clear();  // the others leave
  CHECK(proxy.metric_becomes(kInFiles, 0));
  CHECK(proxy.metric(kOverLimit) + proxy.metric(kFailed) == 0);
}

TEST_CASE("a response that cannot be read back is the proxy's failure, not its client's") {
  const std::string body = large_body();
  ScriptedPeer peer(answering(body));
  const Files files;
  const ProxyUnderTest proxy(peer.address(), files.settings({{"buffer_bytes", 0}}));
  RawClient dawdler(proxy.port(), 4096);
  CHECK(dawdler.send(get("/large")).read_head().status() == 200);
  CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  // The proxy is this process: its file is one without a name in that directory.
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(each.path(), gone).string();
    if (target.starts_with(files.directory.path().string()))
      std::filesystem::resize_file(each.path(), 0);
  }
  CHECK(dawdler.read_to_end().size() < body.size());
  CHECK(proxy.metric_becomes(R"(spillway_errors_total{class="P0",reason="LOCAL_SHORTAGE"})", 1));
  CHECK(proxy.metric(
            R"(spillway_requests_total{route="default",class="P0",outcome="client_gone"})") == 0);
}

TEST_CASE("one address cannot fill the disk space: another's slow client still holds no slot") {
  const std::string body = large_body();
  ScriptedPeer peer(answering(body));
  const Files files;
  constexpr int kGreedy = 12;
  const ProxyUnderTest proxy(
      peer.address(), files.settings({{"buffer_bytes", 0}, {"temp_file_bytes", 100'000'000}}));
  std::vector<RawClient> greedy;
  for (int n = 0; n < kGreedy; ++n) greedy.emplace_back(proxy.port(), 4096).send(get("/large"));
  for (RawClient& one : greedy) CHECK(one.read_head().status() == 200);
  // Each either needs no slot any more or was told that there is no more room for it.
  CHECK(proxy.state_becomes([&](const json&) {
    const double refused = proxy.metric(kOverLimit);
    return refused > 0 && proxy.metric(kSlotsTaken) == refused;
  }));
  CHECK(proxy.metric(kInFiles) < 26'000'000);
  const double before = proxy.metric(kSlotsTaken);
  RawClient other(proxy.port(), 4096, "127.0.0.2");
  CHECK(other.send(get("/large")).read_head().status() == 200);
  CHECK(proxy.metric_becomes(kSlotsTaken, before + 1));
  CHECK(proxy.metric_becomes(kSlotsTaken, before));
  CHECK((other.read_bytes(body.size()) == body));
}

TEST_CASE("a response in chunks goes to the file too, and the connection is used again") {
  const std::string body = large_body();
  const std::string chunks = in_chunks(body);
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
  const Files files;
  for (const int buffer : {0, 64'000'000}) {
    CAPTURE(buffer);
    json settings = files.settings({{"buffer_bytes", buffer}});
    settings["workers"] = 1;
    const ProxyUnderTest proxy(peer.address(), settings);
    const std::size_t before = peer.seen().connections;
    RawClient dawdler(proxy.port(), 4096);
    for (int n = 0; n < 2; ++n) {
      CHECK(dawdler.send(get("/")).read_head().status() == 200);
      CHECK(proxy.metric_becomes(kSlotsTaken, 0));
      CHECK((dawdler.read_bytes(chunks.size()) == chunks));
    }
    CHECK(peer.seen().connections == before + 1);
    CHECK(proxy.metric("spillway_temp_files_total") == 2);
    CHECK(proxy.metric_becomes(kInFiles, 0));
  }
}

TEST_CASE("without temporary files clients that take large responses slowly hold their slots") {
  const std::string body = large_body();
  ScriptedPeer peer(answering(body));
  const Files files;
  struct Variant {
    const char* name;
    json limits;
    const char* counted;
    int count;
  };
  const Variant variants[] = {
      {"off", {{"temp_file_bytes", 0}}, kOverLimit, 0},
      {"little room", {{"temp_file_bytes", 20'000'000}}, kOverLimit, 1},
      {"no directory", {{"temp_file_directory", "/no/such/directory"}}, kFailed, 1},
  };
  for (const Variant& variant : variants) {
    CAPTURE(variant.name);
    const ProxyUnderTest proxy(peer.address(), files.settings(variant.limits));
    RawClient dawdler(proxy.port(), 4096);
    CHECK(dawdler.send(get("/large")).read_head().status() == 200);
    CHECK(proxy.metric_becomes(variant.counted, variant.count));
    CHECK(proxy.metric_becomes("spillway_slots_awaiting_client", 1));
    const Event nothing;
    CHECK_FALSE(nothing.wait(800ms));  // longer than a client may keep a slot waiting for a file
    CHECK(proxy.metric(kSlotsTaken) == 1);
    CHECK((dawdler.read_bytes(body.size()) == body));
    CHECK(proxy.metric_becomes(kSlotsTaken, 0));
  }
}

TEST_CASE("slow uploads hold no slot, in memory and in files, and arrive unchanged") {
  const std::string body = noise(1'000'000, 2);
  const Files files;
  for (const int buffer : {0, 8'000'000, 268'435'456}) {
    for (const bool counted : {true, false}) {
      CAPTURE(buffer);
      CAPTURE(counted);
      ScriptedPeer peer(answering(body));
      const ProxyUnderTest proxy(peer.address(), files.settings({{"buffer_bytes", buffer}}));
      const std::string framing =
          counted ? "Content-Length: " + std::to_string(body.size()) : "Transfer-Encoding: chunked";
      const std::string upload = "POST /upload HTTP/1.1\r\nHost: a.example\r\n" + framing +
                                 "\r\n\r\n" + (counted ? body : in_chunks(body));
      const std::string_view all = upload;
      std::vector<RawClient> slow;
      for (int n = 0; n < kSlow; ++n)
        slow.emplace_back(proxy.port()).send(all.substr(0, all.size() - 7));
      CHECK(RawClient(proxy.port()).ask(get("/quick")).body == "done");
      if (buffer == 0) CHECK(proxy.metric_becomes("spillway_temp_files_total", kSlow));
      if (buffer > 8'000'000) CHECK(proxy.metric("spillway_temp_files_total") == 0);
      CHECK(proxy.metric(kSlotsTaken) == 0);
      CHECK(peer.seen().requests == 1);
      for (RawClient& one : slow) one.send(all.substr(all.size() - 7));
      for (RawClient& one : slow) CHECK((one.read_response().body == body));
      CHECK(proxy.metric_becomes(kInFiles, 0));
      CHECK(proxy.metric_becomes("spillway_body_buffer_bytes", 0));
    }
  }
}

TEST_CASE("a start and a reload say that no temporary file can be written") {
  json settings = configuration({"127.0.0.1:1"});
  ProxyProcess proxy(settings);
  CHECK(proxy.process().err().find("temp_file_directory") == std::string::npos);
  settings["limits"]["temp_file_directory"] = "/no/such/directory";
  ProxyProcess without(settings);
  CHECK(without.process().wait_for_output("$.limits.temp_file_directory: cannot write to"));
}

TEST_CASE("uploads that no file takes are streamed, and hold a slot from then on") {
  const std::string body = noise(2'000'000, 3);
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto head = proxy.read_head()) {
      const auto came = proxy.read_bytes(body.size());
      if (!came || !proxy.send(ok(*came == body ? "same" : "another"))) return;
    }
  });
  const Files files;
  const json variants[] = {
      {{"temp_file_bytes", 0}},
      {{"temp_file_bytes", 4'000'000}},  // half a megabyte each
      {{"temp_file_directory", "/no/such/directory"}},
  };
  for (json limits : variants) {
    CAPTURE(limits.dump());
    limits["buffer_bytes"] = 0;
    const ProxyUnderTest proxy(peer.address(), files.settings(limits));
    const std::size_t before = peer.seen().requests;
    RawClient client(proxy.port());
    const std::string request = post("/", body);
    client.send(std::string_view(request).substr(0, 1'000'000));
    CHECK(peer.wait_until([=](const auto& seen) { return seen.requests == before + 1; }));
    CHECK(proxy.metric(kSlotsTaken) == 1);
    CHECK(client.ask(std::string_view(request).substr(1'000'000)).body == "same");
  }
}

TEST_CASE("no field of a request has its upload streamed: sixteen at a trickle hold no slot") {
  const Files files;
  json settings = files.settings();
  settings["default_route"]["upgrades"] = {"websocket"};
  const char* const fields[] = {"Content-Type: application/grpc\r\n",
                                "Content-Type: application/grpc+proto\r\nTE: trailers\r\n",
                                "Content-Type: Application/gRPC-Web\r\n",
                                "Connection: Upgrade\r\nUpgrade: websocket\r\n",
                                "Expect: 100-continue\r\nAccept: text/event-stream\r\n"};
  for (const char* const lines : fields) {
    CAPTURE(lines);
    ScriptedPeer peer(answering("unused"));
    const ProxyUnderTest proxy(peer.address(), settings);
    const std::string begin = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n" +
                              std::string(lines) + "\r\n" + std::string(70'000, 'x');
    // Each fills a block behind its first 64 KiB.
    const auto in_memory = [&] { return proxy.metric("spillway_body_buffer_bytes"); };
    std::vector<RawClient> slow;
    slow.emplace_back(proxy.port()).send(begin);
    CHECK(proxy.state_becomes([&](const json&) { return in_memory() > 0; }));
    const double block = in_memory();
    while (slow.size() < kSlow) slow.emplace_back(proxy.port()).send(begin);
    CHECK(proxy.metric_becomes("spillway_body_buffer_bytes", kSlow * block));
    RawClient other(proxy.port());
    for (int n = 0; n < 3; ++n) {
      for (RawClient& one : slow) one.send("x");
      CHECK(other.ask(get("/quick")).body == "done");
    }
    CHECK(proxy.metric(kSlotsTaken) == 0);
    CHECK(peer.seen().requests == 3);
  }
}

TEST_CASE("with request_buffering off an upstream may talk before the body ends") {
  const Files files;
  json settings = files.settings();
  settings["default_route"]["request_buffering"] = "off";
  const char* const types[] = {"application/grpc", "text/plain"};
  for (const char* const type : types) {
    CAPTURE(type);
    ScriptedPeer peer([](PeerConnection& proxy) {
      if (!proxy.read_head() || !proxy.read_bytes(60'000)) return;
      proxy.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
      if (proxy.read_until("0\r\n\r\n")) proxy.send("4\r\nlast\r\n0\r\n\r\n");
    });
    const ProxyUnderTest proxy(peer.address(), settings);
    RawClient client(proxy.port());
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: " +
                std::string(type) + "\r\n\r\n11170\r\n" + std::string(0x11170, 'x') + "\r\n");
    CHECK(client.read_head().status() == 200);
    CHECK(client.read_bytes(10) == "5\r\nfirst\r\n");
    client.send("0\r\n\r\n");
    CHECK(client.read_bytes(14) == "4\r\nlast\r\n0\r\n\r\n");
  }
}

TEST_CASE("total_timeout_ms holds for the time in which a body is read") {
  ScriptedPeer peer(ok("done"));
  const Files files;
  json settings = files.settings({{"buffer_bytes", 0}});
  settings["app"] = {{"total_timeout_ms", 300}};
  const ProxyUnderTest proxy(peer.address(), settings);
  RawClient client(proxy.port());
  const Stopwatch stopwatch;
  client.send(std::string_view(post("/", noise(1'000'000, 4))).substr(0, 900'000));
  CHECK(client.read_response().status() == 408);
  CHECK(stopwatch.elapsed() >= 300ms);
  CHECK(peer.seen().requests == 0);
  CHECK(proxy.metric_becomes(kInFiles, 0));
}

TEST_CASE("an upload that is kept goes nowhere when its client leaves") {
  ScriptedPeer peer(ok("done"));
  const Files files;
  const ProxyUnderTest proxy(peer.address(), files.settings({{"buffer_bytes", 0}}));
  RawClient client(proxy.port());
  client.send(std::string_view(post("/", noise(1'000'000, 4))).substr(0, 900'000));
  CHECK(proxy.metric_becomes("spillway_temp_files_total", 1));
  client.close();
  CHECK(proxy.metric_becomes(kInFiles, 0));
  CHECK(proxy.metric_becomes(
      R"(spillway_requests_total{route="default",class="P0",outcome="client_gone"})", 1));
  CHECK(peer.seen().requests == 0);
}

TEST_CASE("what follows a large upload that came with its head overwrites none of it") {
  Event asked, go;
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target() == "/held") {
        asked.set();
        if (!proxy.wait(go)) return;
      }
      const bool echoes = request->method() == "POST";
      if (!proxy.send(ok(echoes ? std::string_view(request->body) : request->target()))) return;
    }
  });
  const Files files;
  const ProxyUnderTest proxy(peer.address(), files.settings());
  const std::string body = noise(0x10100, 4);
  RawClient client(proxy.port());
  // A head that takes a large block, and behind it a byte of the next request, so that this is read
  // into that block: all that waits in the socket at once.
  client.send(get("/held", "X-Long: " + std::string(20'000, 'x') + "\r\n") + "P");
  REQUIRE(asked.wait());
  client.send("OST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10100\r\n" +
              body);
  go.set();
  CHECK(client.read_response().body == "/held");
  // The upload's end comes later, and the next request with it.
  REQUIRE_FALSE(client.has_bytes(Milliseconds{50}));
  client.send("\r\n0\r\n\r\n" + get("/next"));
  CHECK((client.read_response().body == body));
  CHECK(client.read_response().body == "/next");
}

}  // namespace spillway::support

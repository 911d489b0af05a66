#include "system/faults/leaving.hpp"

#include <exception>
#include <stdexcept>

#include "support/raw_client.hpp"

namespace spillway::faults {

using namespace support;

namespace {

const std::string kHost = "Host: a.example\r\n";

void must(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void check_good(Stand& stand, RawClient& client, const std::string& target) {
  const Message answer = client.read_response(Expected::response, stand.patience());
  must(answer.status() == 200 && answer.body == body_of(target), "another's answer");
}

// Comes as far as the phase says; the requests that the proxy has to count.
std::size_t come(Stand& stand, RawClient& client, Phase phase, const std::string& number) {
  const auto passed_on = [&](const std::string& target) {
    must(stand.backend.wait_asked(target, stand.patience()), "not passed on");
  };
  const std::string good = "/good/" + number;
  const std::string upload = "POST " + good + " HTTP/1.1\r\n" + kHost;
  switch (phase) {
    case Phase::in_head: client.send("GET " + good + " HTTP/1.1\r\nHost: a.exa"); return 0;
    case Phase::in_small_body:
      client.send(upload + "Content-Length: 1000\r\n\r\n" + std::string(500, 'b'));
      return 1;
    case Phase::in_large_body:
      client.send(upload + "Content-Length: 1000000\r\n\r\n" + std::string(200'000, 'b'));
      passed_on(good);
      return 1;
    case Phase::in_chunk:
      client.send(
          upload + "Transfer-Encoding: chunked\r\n\r\n" +
          chunked({std::string(100'000, 'b'), std::string(100'000, 'b')}).substr(0, 150'000));
      passed_on(good);
      return 1;
    case Phase::before_continue:
      client.send(upload + "Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
      must(client.read_head(stand.patience()).status() == 100, "no 100");
      return 1;
    case Phase::in_queue: {
      client.send(get("/stalls-before-head/" + number));
      const Event never;
      never.wait(50ms);  // most of them wait for a slot by then
      return 1;
    }
    case Phase::awaiting_head:
      client.send(get("/stalls-before-head/" + number));
      passed_on("/stalls-before-head/" + number);
      return 1;
    case Phase::at_work:
      client.send(get("/slow/" + number));
      passed_on("/slow/" + number);
      return 1;
    case Phase::in_answer:
      client.send(get("/huge/" + number));
      client.read_bytes(1000, stand.patience());
      return 1;
    case Phase::between_requests:
      client.send(get(good));
      check_good(stand, client, good);
      return 1;
    case Phase::in_pipeline:
      client.send(get(good) + get("/stalls-before-head/" + number) + get(good));
      check_good(stand, client, good);
      passed_on("/stalls-before-head/" + number);
      return 2;
  }
  return 0;
}

}  // namespace

std::string name_of(Phase phase) {
  switch (phase) {
    case Phase::in_head: return "in the head";
    case Phase::in_small_body: return "in a small body";
    case Phase::in_large_body: return "in a large body";
    case Phase::in_chunk: return "in a chunk";
    case Phase::before_continue: return "before 100-continue";
    case Phase::in_queue: return "in the queue";
    case Phase::awaiting_head: return "awaiting the head";
    case Phase::at_work: return "while the backend works on";
    case Phase::in_answer: return "in the answer";
    case Phase::between_requests: return "between requests";
    case Phase::in_pipeline: return "in a pipeline";
  }
  return {};
}

Outcome leave(Stand& stand, Phase phase, std::size_t number) {
  Outcome outcome{"gone"};
  try {
    // With a small buffer the answer is still on its way; who reads it whole takes it as it comes.
    const bool reads_on = number % 3 == 2;
    RawClient client(stand.port(), phase == Phase::in_answer && !reads_on ? 4096 : 0);
    outcome.requests = come(stand, client, phase, std::to_string(number));
    switch (number % 3) {
      case 0: client.close(); break;
      case 1: client.reset(); break;
      case 2:
        client.half_close();
        client.read_to_end(stand.patience());
        break;
    }
  } catch (const std::exception& error) {
    outcome.word = "WRONG: " + std::string(error.what()).substr(0, 200);
  }
  return outcome;
}

}  // namespace spillway::faults

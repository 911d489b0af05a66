// PostgreSQL behind a slow link: what takes long on its way is not given up.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/relay.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

constexpr std::size_t kTenMegabits = 10'000'000 / 8;  // a second
constexpr std::size_t kLongBody = 4'500'000;          // 3.6 s on such a link

std::string socket_in(const std::string& url) {
  std::string path = url.substr(url.find("host=") + 5);
  for (std::size_t at = path.find("%2F"); at != std::string::npos; at = path.find("%2F"))
    path.replace(at, 3, "/");
  return path + "/.s.PGSQL.5432";
}

std::string through(const support::Relay& link, const std::string& url) {
  std::string host;
  for (const char c : link.directory().string()) host += c == '/' ? "%2F" : std::string(1, c);
  return url.substr(0, url.find("host=")) + "host=" + host;
}

std::optional<Failure> execute_all(JobStore& store, std::vector<Command>& commands,
                                   jobs::WallTime now) {
  std::vector<Command*> batch;
  for (Command& command : commands) batch.push_back(&command);
  return store.execute(batch, now);
}

}  // namespace

// The first command waits for its answer amid the transaction. What then comes is one message.
TEST_CASE("a batch that is long on its way behind a step of its transaction is executed") {
  PostgresContract contract;
  UnderTest near(contract);
  near.enqueue(near.job(1));
  support::Relay link(socket_in(contract.url()));
  const Opened far = open_store(through(link, contract.url()), {});
  REQUIRE_MESSAGE(far.store, far.failure.text);
  link.slow_down(kTenMegabits);
  Bury bury{.job = near.job(2), .cause = jobs::Cause::expired_in_queue};
  bury.job.body = std::string(kLongBody, 'b');
  std::vector<Command> batch{Cancel{job_id(1)}, bury};
  const std::optional<Failure> failure = execute_all(*far.store, batch, near.now());
  CHECK_MESSAGE(!failure, failure->text);
  CHECK(std::get<Cancel>(batch[0]).is_done);
  CHECK(near.state(1) == "cancelled");
  CHECK(near.state(2) == "dead");
}

}  // namespace spillway::store

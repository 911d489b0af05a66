#include "bench/jobs/plain_queue.hpp"

#include <libpq-fe.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace spillway::bench {
namespace {

using Clock = std::chrono::steady_clock;

const std::string kBody(1024, 'b');

class Session {
 public:
  explicit Session(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run(const char* commands) { check(PQexec(connection_, commands)); }
  void prepare(const char* name, const std::string& text) {
    check(PQprepare(connection_, name, text.c_str(), 0, nullptr));
  }
  // All parameters are the same bytes. The first value of the first row.
  std::string execute(const char* name, int parameters, const std::string& bytes) {
    const std::vector<const char*> values(static_cast<std::size_t>(parameters), bytes.data());
    const std::vector<int> lengths(values.size(), static_cast<int>(bytes.size()));
    const std::vector<int> formats(values.size(), 1);
    return check(PQexecPrepared(connection_, name, parameters, values.data(), lengths.data(),
                                formats.data(), 1));
  }

 private:
  std::string check(PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      std::fprintf(stderr, "%s", PQerrorMessage(connection_));
      std::exit(1);
    }
    std::string value;
    if (PQntuples(result) > 0) {
      value.assign(PQgetvalue(result, 0, 0), static_cast<std::size_t>(PQgetlength(result, 0, 0)));
    }
    PQclear(result);
    return value;
  }

  PGconn* connection_;
};

}  // namespace

void make_plain_queue(const std::string& url) {
  Session session(url);
  session.run(
      "CREATE TABLE plain (id bigserial PRIMARY KEY, state int NOT NULL DEFAULT 0, "
      "run_at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL);"
      "CREATE INDEX ON plain (run_at, id) WHERE state = 0");
}

double plain_loop(const std::string& url, int connections, std::chrono::seconds time) {
  std::atomic<std::uint64_t> done{0};
  const auto begin = Clock::now();
  const auto work = [&] {
    Session session(url);
    session.prepare("put", "INSERT INTO plain (body) VALUES ($1::bytea)");
    session.prepare("take",
                    "UPDATE plain SET state = 1 WHERE id = (SELECT id FROM plain WHERE state = 0 "
                    "AND run_at <= now() ORDER BY run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) "
                    "RETURNING id");
    session.prepare("end", "DELETE FROM plain WHERE id = $1::int8");
    while (Clock::now() - begin < time) {
      session.execute("put", 1, kBody);
      const std::string id = session.execute("take", 0, {});
      if (id.empty()) continue;
      session.execute("end", 1, id);
      ++done;
    }
  };
  std::vector<std::thread> threads;
  for (int n = 0; n < connections; ++n) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) / std::chrono::duration<double>(Clock::now() - begin).count();
}

double plain_inserts(const std::string& url, int rows, std::chrono::seconds time) {
  Session session(url);
  std::string text = "INSERT INTO plain (body, state) VALUES ($1::bytea, 2)";
  for (int n = 2; n <= rows; ++n) text += ", ($" + std::to_string(n) + "::bytea, 2)";
  session.prepare("put", text);
  std::uint64_t done = 0;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    session.execute("put", rows, kBody);
    done += static_cast<std::uint64_t>(rows);
  }
  return static_cast<double>(done) / std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace spillway::bench

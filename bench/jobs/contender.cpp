#include "bench/jobs/contender.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "bench/jobs/broker.hpp"
#include "bench/jobs/disk.hpp"
#include "bench/jobs/empty_stores.hpp"
#include "bench/jobs/plain_queue.hpp"
#include "bench/jobs/store_cycle.hpp"

namespace spillway::job_bench {
namespace {

class StoreQueue : public Queue {
 public:
  explicit StoreQueue(StoreKind kind, Goods goods = {}) : stores_(kind), goods_(goods) {}

  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    Shop shop(stores_.next(), "/", goods_);
    shop.open();
    return shop.enqueue(outstanding, time);
  }

 private:
  EmptyStores stores_;
  Goods goods_;
};

class ProxyQueue : public Queue {
 public:
  ProxyQueue(StoreKind kind, Programs programs) : programs_(std::move(programs)), stores_(kind) {}

  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    return Proxy(programs_, stores_.next()).accept(outstanding, time);
  }

 private:
  Programs programs_;
  EmptyStores stores_;
};

enum class Plain { one_by_one, batched };

class PlainQueue : public Queue {
 public:
  explicit PlainQueue(Plain manner) : manner_(manner) {}

  Figures accept(std::size_t outstanding, std::chrono::milliseconds time) override {
    const std::string url = server_.create_database();
    make_plain_queue(url);
    const int jobs = static_cast<int>(outstanding);
    return manner_ == Plain::batched ? plain_inserts(url, 1, jobs, time)
                                     : plain_inserts(url, jobs, 1, time);
  }

 private:
  Plain manner_;
  PostgresServer server_;
};

struct Contender {
  std::function<std::unique_ptr<Queue>(const Programs&)> make;
  std::function<std::string()> why_missing = [] { return std::string(); };
};

template <typename Kind, typename... Given>
Contender own(Given... given) {
  return {.make = [=](const Programs&) { return std::make_unique<Kind>(given...); }};
}

Contender proxy(StoreKind kind) {
  return {.make = [=](const Programs& its) { return std::make_unique<ProxyQueue>(kind, its); }};
}

const std::vector<std::pair<std::string, Contender>>& contenders() {
  static const std::vector<std::pair<std::string, Contender>> all{
      {"http-sqlite", proxy(StoreKind::sqlite)},
      {"http-postgres", proxy(StoreKind::postgres)},
      {"store-sqlite", own<StoreQueue>(StoreKind::sqlite)},
      {"store-postgres", own<StoreQueue>(StoreKind::postgres)},
      {"store-sqlite-keys", own<StoreQueue>(StoreKind::sqlite, Goods{.have_keys = true})},
      {"store-postgres-keys", own<StoreQueue>(StoreKind::postgres, Goods{.have_keys = true})},
      {"plain", own<PlainQueue>(Plain::one_by_one)},
      {"plain-batched", own<PlainQueue>(Plain::batched)},
      {"rabbitmq-classic", {[](const Programs&) { return rabbitmq("classic"); }, without_rabbitmq}},
      {"rabbitmq-quorum", {[](const Programs&) { return rabbitmq("quorum"); }, without_rabbitmq}},
      {"nats", {[](const Programs&) { return nats(); }, without_nats}},
      {"disk", {[](const Programs&) { return disk(); }}}};
  return all;
}

const Contender& find(const std::string& name) {
  for (const auto& [its, contender] : contenders()) {
    if (its == name) return contender;
  }
  throw std::invalid_argument("there is no contender " + name);
}

}  // namespace

const std::vector<std::string>& contender_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, contender] : contenders()) all.push_back(name);
    return all;
  }();
  return names;
}

std::string why_missing(const std::string& name) { return find(name).why_missing(); }

std::unique_ptr<Queue> make_queue(const std::string& name, const Programs& programs) {
  return find(name).make(programs);
}

}  // namespace spillway::job_bench

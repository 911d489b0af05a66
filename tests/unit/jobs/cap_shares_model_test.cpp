// The caps of routes over all proxies on a store, on simulated time: proxies join, end, stand
// still and stop, and lose what they sent. What all of them use is never more than the cap.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "jobs/cap_shares.hpp"

namespace spillway::jobs {
namespace {

// Times in milliseconds.
using Time = std::int64_t;
constexpr Time kTick = 10;
constexpr Time kEvery = 1000;
constexpr Time kLease = 6000;

const CapId kSlots{"export", CapKind::concurrency};
const CapId kStarts{"export", CapKind::rate};

// What a proxy takes a job by. All but `held` are negative controls.
enum class Rule : std::uint8_t {
  held,    // CapShares
  equal,   // an equal part among those it sees
  untold,  // what it is about to tell, at once
};

struct Row {
  CapParts parts;
  Time lease_end = 0;
};
using Rows = std::map<std::int64_t, Row>;

// A renewal on its way: it reads, then is carried out, then its proxy is told.
struct Renewal {
  CapParts parts;
  std::optional<CapShares::Others> others{};
  Time reads_at = 0, commits_at = 0, learns_at = 0;
  bool is_lost = false;  // it never learns
  bool is_carried_out = true;
  bool is_committed = false;
};

struct Proxy {
  std::int64_t number = 0;
  CapShares shares;
  CapParts told;
  CapShares::Others seen;
  std::vector<Time> jobs;  // when each ends
  std::optional<Renewal> renewal;
  Time renews_at = 0;
  Time asked_at = 0, lease_from = 0;
  bool is_draining = false;
};

struct Model {
  Model(std::uint32_t seed, std::int64_t slots, Rule with)
      : random(seed), most(slots), rule(with) {}

  std::int64_t draw(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  }
  void join() {
    Proxy& proxy = proxies.emplace_back();
    register_anew(proxy);
  }
  void register_anew(Proxy& proxy) {
    rows.erase(proxy.number);  // its former registration
    proxy.number = ++last_number;
    proxy.shares.join(proxy.number);
    proxy.seen.clear();
    proxy.told.clear();
    proxy.renewal.reset();
    proxy.renews_at = proxy.lease_from = now;
    rows[proxy.number].lease_end = now + kLease;
  }
  // Its jobs end with it; its row stays.
  void kill(std::size_t which) {
    proxies.erase(proxies.begin() + static_cast<std::ptrdiff_t>(which));
  }
  std::int64_t may_use(const Proxy& proxy, const CapId& cap) const {
    if (rule == Rule::held) return proxy.shares.share(cap);
    if (proxy.is_draining) return 0;
    if (rule == Rule::untold) {
      const auto its = proxy.told.find(cap);
      return its == proxy.told.end() ? 0 : its->second.held;
    }
    std::int64_t among = 1, place = 0;
    for (const auto& [number, parts] : proxy.seen) {
      ++among;
      if (number < proxy.number) ++place;
    }
    return equal_share(most, among, place);
  }

  void step() {
    now += kTick;
    std::erase_if(rows, [&](const auto& row) { return row.second.lease_end <= now; });
    for (Proxy& proxy : proxies) step(proxy);
    std::erase_if(proxies, [&](const Proxy& proxy) {
      const bool leaves = proxy.is_draining && proxy.jobs.empty();
      if (leaves) rows.erase(proxy.number);
      return leaves;
    });
    std::int64_t slots = 0, starts = 0;
    for (const Proxy& proxy : proxies) {
      slots += static_cast<std::int64_t>(proxy.jobs.size());
      starts += may_use(proxy, kStarts);
    }
    most_slots = std::max(most_slots, slots);
    most_starts = std::max(most_starts, starts);
  }
  void step(Proxy& proxy) {
    std::erase_if(proxy.jobs, [&](Time end) { return end <= now; });
    // It ends what it has before others may take it.
    if (now >= proxy.lease_from + kLease * 9 / 10) {
      proxy.jobs.clear();
      register_anew(proxy);
    }
    if (!proxy.renewal && now >= proxy.renews_at) ask(proxy);
    if (proxy.renewal) carry_out(proxy);
    while (static_cast<std::int64_t>(proxy.jobs.size()) < may_use(proxy, kSlots))
      proxy.jobs.push_back(now + draw(1, draw(0, 9) == 0 ? longest_job : 300));
  }
  void ask(Proxy& proxy) {
    const auto in_use = static_cast<std::int64_t>(proxy.jobs.size());
    Renewal& renewal = proxy.renewal.emplace();
    renewal.parts = proxy.shares.plan({{kSlots, {most, in_use}}, {kStarts, {most * 1000, 0}}},
                                      !proxy.is_draining);
    proxy.told = renewal.parts;
    proxy.asked_at = now;
    proxy.renews_at = now + kEvery;
    renewal.reads_at = now + draw(0, 100);
    renewal.commits_at = renewal.reads_at + draw(0, 200);
    renewal.learns_at = renewal.commits_at + draw(0, 100);
    renewal.is_lost = draw(0, 99) < loses;
    renewal.is_carried_out = !renewal.is_lost || draw(0, 1) == 0;
  }
  void carry_out(Proxy& proxy) {
    Renewal& renewal = *proxy.renewal;
    if (!renewal.others && now >= renewal.reads_at) {
      renewal.others.emplace();
      for (const auto& [number, row] : rows)
        if (number != proxy.number) (*renewal.others)[number] = row.parts;
    }
    const bool commits = !renewal.is_committed && renewal.others && now >= renewal.commits_at;
    if (commits && renewal.is_carried_out) {
      const auto row = rows.find(proxy.number);
      if (row != rows.end()) row->second = {renewal.parts, now + kLease};
    }
    renewal.is_committed = renewal.is_committed || commits;
    if (!renewal.is_committed || now < renewal.learns_at) return;
    if (renewal.is_lost) {
      proxy.renews_at = now;
    } else {
      proxy.lease_from = proxy.asked_at;
      proxy.seen = *renewal.others;
      proxy.shares.learn(*renewal.others);
      if (!proxy.shares.is_settled()) proxy.renews_at = now;
    }
    proxy.renewal.reset();
  }
  void run(Time time) {
    for (const Time end = now + time; now < end;) step();
  }
  // Whatever may come, one after the other.
  void live(int events) {
    for (int n = 0; n < events; ++n) {
      const auto one = [&] {
        return static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(proxies.size()) - 1));
      };
      const std::int64_t event = draw(0, 9);
      if (proxies.empty() || (event < 4 && proxies.size() < 6)) {
        join();
      } else if (event < 6) {
        kill(one());
      } else if (event < 8) {
        proxies[one()].is_draining = true;
      }
      run(draw(0, 2500));
    }
  }
  std::int64_t shares(const CapId& cap) const {
    std::int64_t sum = 0;
    for (const Proxy& proxy : proxies) sum += proxy.shares.share(cap);
    return sum;
  }
  bool is_even() const {
    std::int64_t place = 0;
    const auto among = static_cast<std::int64_t>(proxies.size());
    return std::all_of(proxies.begin(), proxies.end(), [&](const Proxy& proxy) {
      return !proxy.is_draining && proxy.shares.share(kSlots) == equal_share(most, among, place++);
    });
  }

  std::mt19937 random;
  std::int64_t most;
  Rule rule;
  std::int64_t loses = 10;  // of a hundred renewals
  Time longest_job = 5000;
  Time now = 0;
  std::int64_t last_number = 0;
  Rows rows{};
  std::vector<Proxy> proxies{};
  std::int64_t most_slots = 0, most_starts = 0;
};

int rounds_beyond(Rule rule) {
  int beyond = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    Model model(seed, 1 + seed % 9, rule);
    model.live(40);
    if (model.most_slots > model.most || model.most_starts > model.most * 1000) ++beyond;
  }
  return beyond;
}

}  // namespace

TEST_CASE("proxies that come and go never use more than the cap together") {
  CHECK(rounds_beyond(Rule::held) == 0);
  CHECK_MESSAGE(rounds_beyond(Rule::equal) > 50, "control: without parts that are held");
  CHECK_MESSAGE(rounds_beyond(Rule::untold) > 5, "control: used before the others can see it");
}

TEST_CASE("the whole cap is used again soon after one has joined, stopped or been killed") {
  Time longest_join = 0, longest_end = 0, longest_kill = 0;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    Model model(seed, 7, Rule::held);
    model.loses = 0;
    model.longest_job = 300;
    const auto settles = [&](Time& longest) {
      const Time began = model.now;
      while (!(model.shares(kSlots) == 7 && model.shares(kStarts) == 7000 && model.is_even())) {
        model.step();
        REQUIRE(model.now - began < 4 * kLease);
      }
      longest = std::max(longest, model.now - began);
    };
    model.join();
    model.run(model.draw(0, 1000));
    model.join();
    model.run(model.draw(3000, 4000));
    model.join();
    settles(longest_join);
    model.run(model.draw(0, 1000));
    model.proxies[1].is_draining = true;
    settles(longest_end);
    model.run(model.draw(0, 1000));
    model.kill(0);
    settles(longest_kill);
  }
  MESSAGE("all is used after at most ", longest_join, " ms (one joins), ", longest_end,
          " ms (one stops), ", longest_kill, " ms (one is killed, with a lease of ", kLease, ")");
  CHECK(longest_join < 4 * kEvery);
  CHECK(longest_end < 4 * kEvery);
  CHECK(longest_kill < kLease + 3 * kEvery);
}

}  // namespace spillway::jobs

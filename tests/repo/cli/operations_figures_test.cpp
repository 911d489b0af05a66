// docs/operations.md says what `spillway simulate` prints: it does.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "repo/cli/command.hpp"
#include "repo/cli/figures.hpp"
#include "support/temporary_directory.hpp"

using namespace cli;

namespace {

using Changes = std::vector<std::string>;

const std::string kPage = source("docs/operations.md");

// The files of the page, and its commands played on them.
class Folder {
 public:
  Folder() {
    const std::regex block("```json\n([^`]*)```");
    std::sregex_iterator at(kPage.begin(), kPage.end(), block);
    for (const char* file : {"traffic.json", "site.json"}) directory_.write(file, (at++)->str(1));
    const std::size_t from = kPage.find("\n    # ", kPage.find("More files"));
    shell(kPage.substr(from, kPage.find("\n\n", from + 2) - from));
  }

  const Printed& play(const std::string& scenario, const std::string& configuration = {},
                      const Changes& changes = {}, const std::string& options = {}) {
    const std::string simulate = spillway::support::in_build("spillway") + " simulate --scenario " +
                                 scenario + " " + options;
    std::string command = simulate;
    if (!changes.empty()) {
      command = "sed";
      for (const std::string& change : changes) command += " -e '" + change + "'";
      command += " " + configuration + " > try.json && " + simulate + " --config try.json";
    } else if (!configuration.empty()) {
      command += " --config " + configuration;
    }
    auto [at, is_new] = played_.try_emplace(command, "");
    if (is_new) at->second = Printed(shell(command));
    return at->second;
  }
  // One change of site.json that the page shows.
  const Printed& one_change(const std::string& scenario, const std::string& change) {
    CHECK_MESSAGE(contains(kPage, change), change);
    return play(scenario, "site.json", {change});
  }
  Page::Play on(const std::string& scenario) {
    return [this, scenario](const std::string& configuration, const Changes& changes) {
      return play(scenario, configuration, changes);
    };
  }

  std::string shell(const std::string& commands) {
    const auto script = directory_.write("script", "set -e\n" + commands + "\n");
    const std::string command = "cd " + directory_.path().string() + " && sh " + script.string();
    const Result result = run_shell(command);
    REQUIRE_MESSAGE(result.code == 0, commands, "\n", result.err);
    return result.out;
  }

 private:
  spillway::support::TemporaryDirectory directory_;
  std::map<std::string, Printed> played_;
};

std::string served_p0(const Printed& printed) { return printed.served("P0"); }
std::string served_p1(const Printed& printed) { return printed.served("P1"); }
std::string served_p2(const Printed& printed) { return printed.served("P2"); }
std::string p95_of_p0(const Printed& printed) { return printed.p95("P0"); }
std::string goodput(const Printed& printed) { return printed.value("goodput"); }
std::string transitions(const Printed& printed) { return printed.value("transitions"); }

void put(Page& page, const Claim& claim) { CHECK_MESSAGE(page.put(claim), claim.passage); }
void put(Page& page, const Table& table, const Page::Play& play) {
  CHECK_MESSAGE(page.put(table, play), table.header);
}

void put_tables(Page& page, Folder& folder) {
  put(page,
      {"| one change | transitions in 60 s | goodput | served P1, P2 | p95 |",
       {transitions, goodput,
        [](const Printed& printed) { return served_p1(printed) + ", " + served_p2(printed); },
        [](const Printed& printed) { return printed.value("p95 of served"); }}},
      folder.on("traffic.json"));
  put(page, {"| one change, on crowd | P0 | P1 | P2 |", {served_p0, served_p1, served_p2}},
      folder.on("crowd.json"));
  const std::string late =
      "| one change, on crowd | P0 served | p95 | P0 served if clients leave after 1 s "
      "(`s/2000/1000/` in crowd.json) |";
  put(page, {late, {served_p0, p95_of_p0, nullptr}}, folder.on("crowd.json"));
  folder.shell("sed 's/2000/1000/' crowd.json > leaving.json");
  put(page, {late, {nullptr, nullptr, served_p0}}, folder.on("leaving.json"));
  put(page,
      {"| seen | P0 | P1 | P2 | goodput | p95 of P0 |",
       {served_p0, served_p1, served_p2, goodput, p95_of_p0}},
      folder.on("traffic.json"));
  put(page,
      {"| one change | P0 | P1 | P2 | goodput | transitions |",
       {served_p0, served_p1, served_p2, goodput, transitions}},
      folder.on("traffic.json"));
}

void put_shedding(Page& page, Folder& folder) {
  const Printed budget = folder.play("budget"), without = folder.play("budget", "site.json");
  put(page, {"that went into answers in time) is {}, and {} of P2 are served. The same traffic "
             "without the budget, `--scenario budget --config site.json`: {} and {}. P0 and P1 are "
             "served whole in both.",
             {goodput(budget), served_p2(budget), goodput(without), served_p2(without)}});
  for (const Printed& each : {budget, without}) {
    CHECK(served_p0(each) == "100.00 %");
    CHECK(served_p1(each) == "100.00 %");
  }
  const Printed both = folder.play("traffic.json", "site.json", {}, "--compare");
  put(page, {"within its 2 s: goodput {}. With shedding it is {}; P0 {}, P1 {}, P2 {} served.",
             {both.value("goodput", 1), goodput(both), served_p0(both), served_p1(both),
              served_p2(both)}});
  put(page,
      {"Seen: P0 {} with p95 {}, P2 {}.", {served_p0(both), p95_of_p0(both), served_p2(both)}});
  const Printed reads = folder.play("cached-reads");
  const int stored = std::stoi(reads.of_class("P1", 6)) + std::stoi(reads.of_class("P2", 6));
  put(page, {"three times the load: P1 {}, P2 {} served, {} of them from the store.",
             {served_p1(reads), served_p2(reads), std::to_string(stored)}});
  const auto json = nlohmann::json::parse(
      folder
          .play("traffic.json", "site.json", {R"(s/"cooldown_ms"/"mode": "shadow", &/)"}, "--json")
          .text());
  put(page, {"`would_deny` is {} for P2; enforcing denies {}.",
             {json["classes"][2]["would_deny"].dump(), both.of_class("P2", 5)}});
}

void put_disturbed(Page& page, Folder& folder) {
  std::vector<Printed> slow;
  for (const char* cooldown : {"s/2000/0/", "s/2000/2000/", "s/2000/10000/"}) {
    slow.push_back(folder.play("slow-backend", "site.json", {cooldown}));
  }
  put(page, {"with 0, 2 and 10 s: {}, {} and {} transitions, NORMAL at {}, {} and {} s, and P2 "
             "served to {}, {} and {}.",
             {transitions(slow[0]), transitions(slow[1]), transitions(slow[2]),
              slow[0].normal_again(), slow[1].normal_again(), slow[2].normal_again(),
              served_p2(slow[0]), served_p2(slow[1]), served_p2(slow[2])}});
  std::vector<std::string> served;
  for (const char* scenario : {"spike", "slow-backend", "capacity-drop", "retry-storm"}) {
    served.push_back(served_p0(folder.play(scenario, "site.json")));
  }
  put(page, {"Seen: P0 {}, {}, {} and {}. In the last all stalls for 4 s.", served});
  put(page, {"three servers failing for 20 s: P0 {}.", {served_p0(folder.play("error-burst"))}});
}

void put_crowd(Page& page, Folder& folder) {
  const Printed none = folder.play("crowd.json", "site.json");
  put(page, {"than the backend can do, it is served to {}.", {served_p0(none)}});
  const std::string change = R"(s/"max_wait_ms": 500/"max_wait_ms": 250/)";
  const Printed shorter = folder.one_change("crowd.json", change);
  put(page, {"longest wait of 500 ms has a p95 of {}. With 250 (`" + change +
                 "`) it is {}, and P0 is served to {} ({}).",
             {p95_of_p0(none), p95_of_p0(shorter), served_p0(shorter), served_p0(none)}});
  const auto p95_with = [&](const std::string& change_of_site) {
    return p95_of_p0(folder.one_change("traffic.json", change_of_site));
  };
  put(page,
      {"p95 of P0 {} and {}, against {} with a number four times too high",
       {p95_with(R"(s/: 40 }/: "auto" }/)"), p95_of_p0(folder.play("traffic.json", "target.json")),
        p95_with("s/: 40 }/: 160 }/")}});
}

void put_tenants(Page& page, Folder& folder) {
  const auto nine = [](const Printed& printed) {
    std::vector<double> shares;
    for (char n = '1'; n <= '9'; ++n) {
      shares.push_back(std::stod(printed.value(std::string("quiet-") + n)));
    }
    const auto [least, most] = std::ranges::minmax(shares);
    char text[32];
    std::snprintf(text, sizeof text, least == most ? "%.2f %%" : "%.2f to %.2f %%", least, most);
    return std::string(text);
  };
  const Printed fair = folder.play("noisy-tenant");
  put(page, {"The nine are served to {}, the noisy one to {}; Jain's index {}.",
             {nine(fair), fair.value("noisy"), fair.value("Jain index")}});
  const Printed unfair =
      folder.one_change("noisy-tenant", R"(s/: 40 }/: 64 }, "tenants": { "fairness": false }/)");
  const std::string range = nine(unfair);
  put(page, {"the nine get {} to {}, the noisy one {}; index {}.",
             {bare(range), range.substr(range.rfind("to ") + 3), unfair.value("noisy"),
              unfair.value("Jain index")}});
}

void put_breakers(Page& page, Folder& folder) {
  const std::string server = R"(s/3000"\]/&, )", slow = R"("response_timeout_ms": 1000)";
  const auto served = [&](const std::string& scenario, const std::string& members) {
    return served_p0(folder.play(scenario, "site.json", {server + members + "/"}));
  };
  const std::string on = R"("circuit_breaker": {})";
  const std::string brief = R"("circuit_breaker": { "max_open_ms": 2000 })";
  CHECK(contains(kPage, server + on + "/"));
  put(page, {"P0 is served on broken to {}, without it to {} (one of ten succeeds meanwhile); on "
             "hang, both with `" +
                 slow + "` in the same place, to {} and {}:",
             {served("broken.json", on), served_p0(folder.play("broken.json", "site.json")),
              served("hang.json", slow + ", " + on), served("hang.json", slow)}});
  put(page, {R"(With `{ "max_open_ms": 2000 }` it is {} and {}.)",
             {served("broken.json", brief), served("hang.json", slow + ", " + brief)}});
}

}  // namespace

TEST_CASE("every figure of docs/operations.md that simulate prints is the one that it prints now") {
  Folder folder;
  Page page(kPage);
  put_tables(page, folder);
  put_shedding(page, folder);
  put_disturbed(page, folder);
  put_crowd(page, folder);
  put_tenants(page, folder);
  put_breakers(page, folder);
  const std::string corrected = page.corrected();
  const std::string file = spillway::support::in_build("operations.md");
  std::ofstream(file) << corrected;
  std::string lines;
  for (const std::string& line : changed_lines(kPage, corrected)) lines += line + "\n";
  CHECK_MESSAGE(lines.empty(), "docs/operations.md ought to say, as ", file, " does:\n", lines);
  for (const std::string& line : page.unclaimed()) FAIL_CHECK("no command gives: ", line);
}

TEST_CASE("a figure that is not printed, or that nothing was said of, is seen") {
  const std::string text =
      "Served: P0 99.00\n%, p95 1.20 s. Then 12.34 %.\n\n| change | P1 |\n| --- | --- |\n"
      "| none | 1.00 % |\n| `s/a/b/` | 50.00 % |\n| the same, and `s/c/d/` | 2.00 % |\n";
  Page page(text);
  CHECK(page.put({"Served: P0 {}, p95 {}.", {"99.00 %", "900 ms"}}));
  CHECK_FALSE(page.put({"Served: P1 {}.", {"99.00 %"}}));
  Changes last;
  CHECK(page.put({"| change | P1 |", {[](const Printed& printed) { return printed.served("P1"); }}},
                 [&](const std::string&, const Changes& changes) {
                   last = changes;
                   return Printed("class  offered  success\nP1  100  50.00 %\n");
                 }));
  CHECK(last == Changes{"s/a/b/", "s/c/d/"});
  CHECK(page.unclaimed() == std::vector<std::string>{"%, p95 1.20 s. Then 12.34 %."});
  const auto changed = changed_lines(text, page.corrected());
  CHECK(changed == std::vector<std::string>{"2: %, p95 900 ms. Then 12.34 %.",
                                            "6: | none | 50.00 % |",
                                            "8: | the same, and `s/c/d/` | 50.00 % |"});
}

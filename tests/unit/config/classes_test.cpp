// Names, guaranteed shares and numeric priorities of classes.
#include <algorithm>
#include <functional>

#include "unit/config/support.hpp"

namespace spillway::config {

TEST_CASE("classes without names are called by their index and priorities may go to a thousand") {
  const Config config = load_good(with(
      R"("classes":[{},{"name":"middle"},{"min_share":0}],"default_route":{"class":"2"},
         "priority_max":1000,"routes":[{"name":"a","match":{"path":"/a"},"priority":1000}],
         "overload":{"rules":{"0":{"strategy":"deny"}}})"));
  CHECK(config.classes[0].name == "0");
  CHECK(config.classes[1].name == "middle");
  CHECK(config.classes[2].name == "2");
  CHECK(config.default_route().traffic_class == ClassId{2});
  CHECK(config.overload.rules[0].strategy == Strategy::deny);
  CHECK(config.routes[0].priority == 1000);
}

TEST_CASE("guaranteed shares are given to all but the highest class and leave turns over") {
  const auto shares = [](const std::string& members) {
    std::vector<double> out;
    for (const TrafficClass& one : load_good(with(members)).classes)
      out.push_back(one.min_share.value());
    return out;
  };
  CHECK(shares("") == std::vector<double>{0, 0.05, 0.05});
  CHECK(shares(R"("classes":[{"name":"a"}])") == std::vector<double>{0});
  CHECK(shares(R"("classes":[{"name":"a","min_share":0.5},{"name":"b","min_share":0},
                             {"name":"c"}])") == std::vector<double>{0.5, 0, 0.05});
  std::string many = R"({"name":"c0"})";
  for (int i = 1; i < 32; ++i) many += R"(,{"name":"c)" + std::to_string(i) + R"("})";
  const std::vector<double> of_many = shares(R"("classes":[)" + many + "]");
  CHECK(of_many.front() == 0);
  CHECK(of_many.back() == doctest::Approx(0.5 / 31));
  check_problem(
      with(R"("classes":[{"name":"a","min_share":0.5},{"name":"b","min_share":0.5},{"name":"c"}])"),
      "$.classes[1].min_share", "together is 1.05, allowed: less than 1");
  check_problem(with(R"("classes":[{"name":"a"},{"name":"b","min_share":1}])"),
                "$.classes[1].min_share", "together is 1, allowed: less than 1");
  check_problem(with(R"("classes":[{"name":"a","min_share":-0.1}])"), "$.classes[0].min_share",
                "0");
}

TEST_CASE("the waits of a class follow how long slots are held unless the file says one of them") {
  const auto follow = [](const std::string& members) {
    std::vector<bool> out;
    for (const TrafficClass& one : load_good(with(members)).classes) out.push_back(one.stretches);
    return out;
  };
  CHECK(follow("") == std::vector<bool>{true, true, true});
  CHECK(follow(R"("classes":[{"name":"a","weight":2,"max_queue":9},{"name":"b","max_wait_ms":200},
                             {"name":"c","sla_ms":1000}])") ==
        std::vector<bool>{true, false, false});
}

TEST_CASE("three classes have the default ones' values for the keys that they leave out") {
  const Config plain = load_good(with(""));
  const Config tuned =
      load_good(with(R"("classes":[{"name":"P0"},{"name":"P1","max_wait_ms":400},{"name":"P2"}])"));
  REQUIRE(tuned.classes.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(tuned.classes[i].name == plain.classes[i].name);
    CHECK(tuned.classes[i].weight == plain.classes[i].weight);
    CHECK(tuned.classes[i].max_queue == plain.classes[i].max_queue);
    CHECK(tuned.classes[i].sla == plain.classes[i].sla);
    CHECK(tuned.classes[i].min_share == plain.classes[i].min_share);
  }
  CHECK(tuned.classes[0].max_wait == Milliseconds{500});
  CHECK(tuned.classes[1].max_wait == Milliseconds{400});
  CHECK(tuned.classes[2].max_wait == Milliseconds{100});
}

TEST_CASE("defaults go by the place of a class, whatever its name") {
  const auto lists = [](const std::string& classes) {
    std::vector<double> weights, queues, waits;
    for (const TrafficClass& one : load_good(with(R"("classes":[)" + classes + "]")).classes) {
      weights.push_back(one.weight);
      queues.push_back(one.max_queue);
      waits.push_back(double(one.max_wait.count()));
    }
    return std::vector{weights, queues, waits};
  };
  using Lists = std::vector<std::vector<double>>;
  CHECK(lists(R"({"name":"P2"},{},{"name":"P0"})") ==
        Lists{{8, 3, 1}, {512, 256, 128}, {500, 200, 100}});
  CHECK(lists("{}") == Lists{{8}, {512}, {500}});
  CHECK(lists("{},{}") == Lists{{8, 1}, {512, 128}, {500, 100}});
  CHECK(lists(R"({},{},{"weight":2.5},{})") ==
        Lists{{8, 4.16, 2.5, 1}, {512, 323, 203, 128}, {500, 271, 159, 100}});
  CHECK(lists("{},{},{},{},{}") ==
        Lists{{8, 4.9, 3, 1.73, 1}, {512, 362, 256, 181, 128}, {500, 316, 200, 141, 100}});
  // None is as another.
  std::string many = "{}";
  for (int i = 1; i < 32; ++i) many += ",{}";
  for (const std::vector<double>& values : lists(many))
    CHECK(std::ranges::adjacent_find(values, std::ranges::less_equal{}) == values.end());
  check_problem(with(R"("classes":[{"name":1}])"), "$.classes[0].name", "found 1");
}

}  // namespace spillway::config

// Names, guaranteed shares and numeric priorities of classes.
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

TEST_CASE(
    "a class with the name of a default one has its defaults for the keys that it leaves out") {
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

TEST_CASE("shares go by the place of a class, and a class of another name has the plain defaults") {
  const Config config = load_good(with(R"("classes":[{"name":"P1"},{"name":"bulk"},{}])"));
  CHECK(config.classes[0].weight == 3);
  CHECK(config.classes[0].max_queue == 256);
  CHECK(config.classes[0].max_wait == Milliseconds{200});
  CHECK(config.classes[0].min_share == 0);
  for (const std::size_t i : {1, 2}) {
    CAPTURE(i);
    CHECK(config.classes[i].weight == 1);
    CHECK(config.classes[i].max_queue == 128);
    CHECK(config.classes[i].max_wait == Milliseconds{100});
    CHECK(config.classes[i].min_share == 0.05);
  }
  check_problem(with(R"("classes":[{"name":1}])"), "$.classes[0].name", "found 1");
}

}  // namespace spillway::config

#include "overload/control/source_alarm.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::overload;
using Change = SourceAlarm::Change;

namespace {

OverloadSignals errors(double all, double others) {
  OverloadSignals signals;
  signals.total_error_rate = all;
  signals.error_rate = others;
  if (all != others) signals.left_out = LeftOut{.others = others};
  return signals;
}

}  // namespace

TEST_CASE("errors of one source begin at the enter threshold and end at the exit threshold") {
  SourceAlarm alarm{config::Overload{}};  // 0.2, 0.1
  CHECK(alarm.step(errors(0.19, 0)) == Change::none);
  CHECK(alarm.step(errors(0.2, 0)) == Change::began);
  CHECK(alarm.is_on());
  CHECK(alarm.step(errors(0.9, 0.1)) == Change::none);
  CHECK(alarm.step(errors(0.11, 0)) == Change::none);
  CHECK(alarm.step(errors(0.1, 0)) == Change::ended);
  CHECK(alarm.step({}) == Change::none);
}

TEST_CASE("errors of the others, too, are not those of one source") {
  SourceAlarm alarm{config::Overload{}};
  CHECK(alarm.step(errors(0.5, 0.5)) == Change::none);
  CHECK(alarm.step(errors(0.5, 0.2)) == Change::none);
  CHECK(alarm.step(errors(0.5, 0.19)) == Change::began);
  CHECK(alarm.step(errors(0.5, 0.2)) == Change::ended);
}

TEST_CASE("without a threshold for errors no source is reported, with stages the lowest counts") {
  config::Overload settings;
  settings.enter.error_rate.reset();
  SourceAlarm none{settings};
  CHECK(none.step(errors(1, 0)) == Change::none);
  settings.stages.resize(2);
  settings.stages[0].enter.error_rate = 0.4;
  settings.stages[0].exit.error_rate = 0.3;
  settings.stages[1].enter.error_rate = 0.8;
  settings.stages[1].exit.error_rate = 0.7;
  SourceAlarm staged{settings};
  CHECK(staged.step(errors(0.39, 0)) == Change::none);
  CHECK(staged.step(errors(0.4, 0)) == Change::began);
  CHECK(staged.step(errors(0.3, 0)) == Change::ended);
}

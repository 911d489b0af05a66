// Plays one case at one proxy under test.
#pragma once

#include <cstddef>
#include <string>

#include "support/event.hpp"
#include "system/wire/case.hpp"
#include "system/wire/proxies.hpp"

namespace spillway::wire {

class Player {
 public:
  // `number`: the case's own in its table. `patience`: for what is due. All must outlive this.
  Player(const Case& played, std::size_t number, const Lane& lane, support::Milliseconds patience);

  bool ended() const { return next_ == case_.steps().size() || !verdict_.empty(); }
  const Verdict& verdict() const { return verdict_; }

  // To the end, or up to a step that is for later.
  void go_on();

 private:
  Observation play(const Step& step);
  Verdict verdict_on(const Step& step);

  const Case& case_;
  const Lane& lane_;
  support::Milliseconds patience_;
  std::string base_;
  std::size_t next_ = 0;  // step
  std::size_t turn_ = 0;  // of the origin's answers
  Verdict verdict_;
};

}  // namespace spillway::wire

#include "proxy/net/timed_letter.hpp"

namespace spillway::proxy {

Task<bool> TimedLetter::wait(EventLoop& loop, TimePoint until) {
  while (!letter_.delivered && loop.now() < until) co_await parking_.park({.deadline = until});
  if (!letter_.delivered && gives_up()) co_return false;
  while (!letter_.delivered) co_await parking_.park({});
  co_return true;
}

}  // namespace spillway::proxy

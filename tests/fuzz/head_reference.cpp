// Any bytes as a head, read by our parser and by Boost.Beast's: where both accept, both mean the
// same, and Beast accepts all that we accept. head_comparison.cpp lists where the two may differ.
#include "fuzz/claim.hpp"
#include "fuzz/head_comparison.hpp"
#include "fuzz/options.hpp"
#include "fuzz/targets.hpp"

namespace spillway::fuzz {

// The input has the form of request_head's and upstream_response's, so that their corpora serve
// here too. No bytes begin both a request and a response: both readings are tried.
void head_reference(std::string_view input) {
  Options options(input);
  const http::Verb method = bit(options.byte(), 2) ? http::Verb::head : http::Verb::get;
  const std::string_view received = options.rest();
  for (const HeadComparison& comparison :
       {compare_request(received), compare_response(received, method)}) {
    require(comparison.disagreement.empty(), comparison.disagreement, received);
  }
}

}  // namespace spillway::fuzz

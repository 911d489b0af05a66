#include "fuzz/path_backends.hpp"

#include <cctype>

namespace spillway::fuzz {
namespace {

using Text = std::string;

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// Every escape, but for those of the characters to keep.
Text decoded(const Text& path, std::string_view kept = "") {
  Text out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%' && i + 2 < path.size() && is_hex(path[i + 1]) && is_hex(path[i + 2])) {
      const char c = static_cast<char>(std::stoi(path.substr(i + 1, 2), nullptr, 16));
      if (kept.find(c) == kept.npos) {
        out += c;
        i += 2;
        continue;
      }
    }
    out += path[i];
  }
  return out;
}

Text without(Text path, std::string_view what, std::string_view instead) {
  for (std::size_t at = path.find(what); at != path.npos; at = path.find(what, at)) {
    path.replace(at, what.size(), instead);
    if (what.find(instead) == what.npos) at += instead.size();
  }
  return path;
}

Text merged(Text path) { return without(std::move(path), "//", "/"); }
Text with_slashes(Text path) { return without(std::move(path), "\\", "/"); }
Text cut(const Text& path, std::string_view ends) {
  return path.substr(0, path.find_first_of(ends));
}

// Without the parameters of the segments.
Text bare(const Text& path) {
  Text out;
  bool inside = false;
  for (const char c : path) {
    inside = c == '/' ? false : inside || c == ';';
    if (!inside) out += c;
  }
  return out;
}

// RFC 3986 section 5.2.4, on what stands between slashes.
Text resolved(const Text& path) {
  std::vector<Text> segments;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const Text segment = path.substr(at, end - at);
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
    }
    at = end + 1;
  }
  Text out;
  for (const Text& segment : segments) out += "/" + segment;
  return out;
}

Text clean(const Text& path) { return resolved(merged(path)); }

Text as_url_parser(const Text& path) {
  Text out = with_slashes(path);
  for (const char* dot : {"%2e", "%2E"}) out = without(out, dot, ".");
  return resolved(out);
}

Text behind_host(const Text& path) {
  if (!path.starts_with("//")) return path;
  const std::size_t slash = path.find('/', 2);
  return slash == path.npos ? "/" : path.substr(slash);
}

}  // namespace

const std::vector<PathBackend>& path_backends() {
  static const std::vector<PathBackend> all{
      {"HAProxy, path_beg", [](Text p) { return p; }},
      {"HAProxy, normalize-uri", [](Text p) { return resolved(p); }},
      {"HAProxy, url_dec", [](Text p) { return decoded(p); }},
      {"RFC 3986, decoded afterwards", [](Text p) { return decoded(resolved(p)); }},
      {"RFC 3986 with merged slashes, decoded afterwards",
       [](Text p) { return decoded(clean(p)); }},
      {"NGINX", [](Text p) { return clean(decoded(p)); }},
      {"NGINX, merge_slashes off", [](Text p) { return resolved(decoded(p)); }},
      {"Apache, AllowEncodedSlashes NoDecode", [](Text p) { return clean(decoded(p, "/")); }},
      {"Apache, MergeSlashes off", [](Text p) { return resolved(decoded(p, "/")); }},
      {"Envoy, as it comes with path decoding in the backend",
       [](Text p) { return decoded(p, "/"); }},
      {"Tomcat", [](Text p) { return clean(decoded(bare(p))); }},
      {"Tomcat, backslashes allowed", [](Text p) { return clean(with_slashes(decoded(bare(p)))); }},
      {"Jetty, parameters cut after decoding", [](Text p) { return clean(bare(decoded(p))); }},
      {"a router on the raw path without parameters", [](Text p) { return resolved(bare(p)); }},
      {"a servlet path that is not normalised", [](Text p) { return decoded(bare(p)); }},
      {"WHATWG URL", [](Text p) { return as_url_parser(p); }},
      {"WHATWG URL, decoded afterwards", [](Text p) { return decoded(as_url_parser(p)); }},
      {"IIS", [](Text p) { return clean(with_slashes(decoded(p))); }},
      {"IIS behind a proxy that does not merge",
       [](Text p) { return resolved(with_slashes(decoded(p))); }},
      {"C strings", [](Text p) { return clean(cut(decoded(p), std::string_view("\0", 1))); }},
      {"decoding before the query is split off",
       [](Text p) { return clean(cut(decoded(p), "?#")); }},
      {"decoding twice", [](Text p) { return clean(decoded(decoded(p))); }},
      {"decoding twice, first before the dots",
       [](Text p) { return clean(decoded(clean(decoded(p)))); }},
      {"decoding twice, nothing resolved", [](Text p) { return decoded(decoded(p)); }},
      {"network-path reference", [](Text p) { return clean(decoded(behind_host(p))); }},
      {"network-path reference, raw", [](Text p) { return behind_host(p); }},
      {"Windows behind a Tomcat",
       [](Text p) { return resolved(merged(with_slashes(decoded(resolved(bare(p)))))); }},
  };
  return all;
}

std::string path_at(const PathBackend& backend, std::string_view path_and_query) {
  std::string path = backend.read(cut(Text(path_and_query), "?#"));
  while (path.ends_with('/')) path.pop_back();
  return path.starts_with('/') ? path : "/" + path;
}

}  // namespace spillway::fuzz

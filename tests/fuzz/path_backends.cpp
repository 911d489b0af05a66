#include "fuzz/path_backends.hpp"

#include <algorithm>
#include <cctype>
#include <set>

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

Text small(Text path) {
  for (char& c : path) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
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

// RFC 3986 section 5.2.4, on what stands between slashes. `encoded`: the URL standard's dots too
// (section 4.1, "double-dot URL path segment").
Text resolved(const Text& path, bool encoded = false) {
  std::vector<Text> segments;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const Text segment = path.substr(at, end - at);
    Text dots = segment;
    if (encoded)
      for (const char* dot : {"%2e", "%2E"}) dots = without(dots, dot, ".");
    if (dots == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (dots != ".") {
      segments.push_back(segment);
    }
    at = end + 1;
  }
  Text out;
  for (const Text& segment : segments) out += "/" + segment;
  return out;
}

Text clean(const Text& path) { return resolved(merged(path)); }

Text as_url_parser(const Text& path) { return resolved(with_slashes(path), true); }

Text behind_host(const Text& path) {
  if (!path.starts_with("//")) return path;
  const std::size_t slash = path.find('/', 2);
  return slash == path.npos ? "/" : path.substr(slash);
}

// The same behind any number of slashes.
Text behind_any_host(const Text& path) {
  const std::size_t host = path.find_first_not_of('/');
  if (host < 2) return path;
  const std::size_t slash = path.find('/', host);
  return slash == path.npos ? "/" : path.substr(slash);
}

Text without_line_breaks(Text path) {
  std::erase_if(path, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  return path;
}

Text trimmed(Text path) {
  while (!path.empty() && static_cast<unsigned char>(path.back()) <= ' ') path.pop_back();
  return path;
}

// str.split() of Python, which http.server reads the request line with as ISO 8859-1.
Text without_python_space(Text path) {
  constexpr std::string_view kSpace("\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0");
  while (!path.empty() && kSpace.find(path.back()) != kSpace.npos) path.pop_back();
  return path;
}

// The tokens of Spring's AntPathMatcher before 4.3, each as String.trim() leaves it
// (CVE-2016-5007). Empty ones are left out.
Text trimmed_tokens(const Text& path) {
  Text out;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    Text token = trimmed(path.substr(at, end - at));
    while (!token.empty() && static_cast<unsigned char>(token.front()) <= ' ') token.erase(0, 1);
    if (!token.empty()) out += "/" + token;
    at = end + 1;
  }
  return out;
}

// new URL(path, base).pathname
Text as_url(const Text& path) {
  return as_url_parser(
      cut(behind_any_host(with_slashes(without_line_breaks(trimmed(path)))), "?#"));
}

// As Windows opens files: no name ends with a dot or a space.
Text as_file_names(const Text& path) {
  Text out;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    Text name = path.substr(at, end - at);
    while (name.ends_with(' ')) name.pop_back();
    if (name.find_first_not_of('.') != name.npos) name.resize(name.find_last_not_of(". ") + 1);
    out += "/" + name;
    at = end + 1;
  }
  return out;
}

// Python's urllib.parse.urlparse(): the parameters are those of the last segment.
Text as_python(const Text& path) {
  const Text out = cut(behind_host(without_line_breaks(path)), "?#");
  const std::size_t end = out.find(';', out.rfind('/') + 1);
  return out.substr(0, end);
}

// HAProxy's percent-decode-unreserved.
Text unreserved_decoded(const Text& path) {
  Text kept;
  for (int c = 0; c < 256; ++c) {
    const char one = static_cast<char>(c);
    if (!(c < 128 && std::isalnum(c) != 0) && std::string_view("-._~").find(one) == Text::npos)
      kept += one;
  }
  return decoded(path, kept);
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
      {"HAProxy, percent-decode-unreserved, then path-strip-dotdot",
       [](Text p) { return resolved(unreserved_decoded(p)); }},
      {"Envoy, normalize_path and merge_slashes", [](Text p) { return merged(as_url_parser(p)); }},
      {"Shiro", [](Text p) { return clean(with_slashes(cut(decoded(p), ";"))); }},
      {"Node, new URL()", [](Text p) { return as_url(p); }},
      {"Node, new URL(), decoded afterwards", [](Text p) { return decoded(as_url(p)); }},
      {"a decoder before new URL()", [](Text p) { return as_url(decoded(p)); }},
      {"Python, urlparse()", [](Text p) { return as_python(p); }},
      {"Python, urlparse(), decoded and resolved",
       [](Text p) { return clean(decoded(as_python(p))); }},
      {"WHATWG URL", [](Text p) { return as_url_parser(p); }},
      {"WHATWG URL, decoded afterwards", [](Text p) { return decoded(as_url_parser(p)); }},
      {"IIS", [](Text p) { return clean(with_slashes(decoded(p))); }},
      {"IIS behind a proxy that does not merge",
       [](Text p) { return resolved(with_slashes(decoded(p))); }},
      {"NULs left out",
       [](Text p) { return clean(without(decoded(p), std::string_view("\0", 1), "")); }},
      {"C strings", [](Text p) { return clean(cut(decoded(p), std::string_view("\0", 1))); }},
      {"decoding before the query is split off",
       [](Text p) { return clean(cut(decoded(p), "?#")); }},
      {"decoding twice", [](Text p) { return clean(decoded(decoded(p))); }},
      {"decoding twice, first before the dots",
       [](Text p) { return clean(decoded(clean(decoded(p)))); }},
      {"decoding twice, nothing resolved", [](Text p) { return decoded(decoded(p)); }},
      {"decoding three times", [](Text p) { return clean(decoded(decoded(decoded(p)))); }},
      {"decoding four times, resolved between",
       [](Text p) { return clean(decoded(decoded(clean(decoded(decoded(p)))))); }},
      {"files of Windows", [](Text p) { return clean(as_file_names(with_slashes(decoded(p)))); }},
      {"files of Windows behind what resolves",
       [](Text p) { return as_file_names(with_slashes(clean(decoded(p)))); }},
      {"a router that ignores capitals", [](Text p) { return small(clean(decoded(p))); }},
      {"a router on the raw path that ignores capitals", [](Text p) { return small(p); }},
      {"Python, http.server", [](Text p) { return without_python_space(std::move(p)); }},
      {"Python, PATH_INFO without blanks around it",
       [](Text p) { return without_python_space(clean(decoded(p))); }},
      {"Spring Security 4.0 in a Tomcat",
       [](Text p) { return trimmed_tokens(clean(decoded(bare(p)))); }},
      {"Spring Security 4.0 on the path that is not normalised",
       [](Text p) { return trimmed_tokens(decoded(p)); }},
      {"network-path reference", [](Text p) { return clean(decoded(behind_host(p))); }},
      {"network-path reference, raw", [](Text p) { return behind_host(p); }},
      {"Windows behind a Tomcat",
       [](Text p) { return resolved(merged(with_slashes(decoded(resolved(bare(p)))))); }},
  };
  return all;
}

namespace {

Text without_slashes_at_end(Text path) {
  while (path.ends_with('/')) path.pop_back();
  return path.starts_with('/') ? path : "/" + path;
}

}  // namespace

std::string path_at(const PathBackend& backend, std::string_view path_and_query) {
  return without_slashes_at_end(backend.read(cut(Text(path_and_query), "?#")));
}

std::vector<ServedPath> served_paths(std::string_view path_and_query) {
  std::vector<ServedPath> out;
  std::set<Text> known, passed_on;
  const auto add = [&](std::string_view first, std::string_view second, const Text& path) {
    Text served = without_slashes_at_end(path);
    if (known.insert(served).second) out.push_back({first, second, std::move(served)});
  };
  const Text sent = cut(Text(path_and_query), "?#");
  for (const PathBackend& backend : path_backends()) add("", backend.name, backend.read(sent));
  for (const PathBackend& first : path_backends()) {
    Text between = first.read(sent);
    if (!between.starts_with('/')) between.insert(0, "/");
    if (!passed_on.insert(between).second) continue;
    for (const PathBackend& second : path_backends())
      add(first.name, second.name, second.read(between));
  }
  return out;
}

}  // namespace spillway::fuzz

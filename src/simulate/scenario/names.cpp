#include "simulate/scenario/names.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spillway::simulate {
namespace {

template <class Named>
std::vector<std::string> all_names(const std::vector<Named>& first,
                                   const std::vector<Named>& second) {
  std::vector<std::string> out;
  const auto add = [&](const Named& item) {
    if (std::ranges::find(out, item.name) == out.end()) out.push_back(item.name);
  };
  std::ranges::for_each(first, add);
  std::ranges::for_each(second, add);
  return out;
}

template <class Named>
std::size_t position(const std::vector<Named>& list, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(list, name, &Named::name) - list.begin());
}

ClassId of_same_rank(std::size_t rank, std::size_t former, std::size_t classes) {
  const double part = former > 1 ? double(rank) / double(former - 1) : 0;
  return static_cast<ClassId>(std::lround(part * double(classes - 1)));
}

class Translation {
 public:
  Translation(const config::Config& played, const config::Config& written_for)
      : played_(played), written_for_(written_for), names_(names_of(played, written_for)) {}

  void translate(Clients& clients, const std::string& path) {
    if (clients.route && index(*clients.route) >= played_.routes.size()) lose_route(clients, path);
    if (clients.traffic_class && index(*clients.traffic_class) >= played_.classes.size()) {
      const std::string& name = names_.classes[index(*clients.traffic_class)];
      clients.traffic_class = class_for(name);
      warn(path + ".class", "no class " + config::shown(name) + ": played as " +
                                config::shown(played_name(*clients.traffic_class)) +
                                ", of the same rank");
    }
  }
  config::Problems warnings;

 private:
  void lose_route(Clients& clients, const std::string& path) {
    const std::string& name = names_.routes[index(*clients.route)];
    const config::Route& former = written_for_.routes[position(written_for_.routes, name)];
    clients.route = static_cast<RouteId>(played_.routes.size() - 1);
    if (!clients.traffic_class) {
      clients.traffic_class = class_for(written_for_.classes[index(former.traffic_class)].name);
    }
    warn(path + ".route", "no route " + config::shown(name) + ": played on its default route");
  }

  ClassId class_for(const std::string& name) const {
    const std::size_t same = position(played_.classes, name);
    if (same < played_.classes.size()) return static_cast<ClassId>(same);
    return of_same_rank(position(written_for_.classes, name), written_for_.classes.size(),
                        played_.classes.size());
  }
  const std::string& played_name(ClassId id) const { return played_.classes[index(id)].name; }

  void warn(const std::string& path, const std::string& what) {
    const auto is_same = [&](const config::Problem& one) { return one.message.ends_with(what); };
    if (std::ranges::none_of(warnings, is_same)) {
      warnings.push_back({path, "the configuration has " + what});
    }
  }

  const config::Config& played_;
  const config::Config& written_for_;
  const Names names_;
};

}  // namespace

Names names_of(const config::Config& played, const config::Config& written_for) {
  return {all_names(played.classes, written_for.classes),
          all_names(played.routes, written_for.routes)};
}

config::Problems translate(std::vector<Clients>& clients, const config::Config& played,
                           const config::Config& written_for) {
  Translation translation(played, written_for);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    translation.translate(clients[i], config::element("$.clients", i));
  }
  return std::move(translation.warnings);
}

}  // namespace spillway::simulate

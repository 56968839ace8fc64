#include "models/rdu/resolve/resolution.hpp"

#include "sim/config/key_spec.hpp"
#include "sim/core/check.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {

Place Resolution::place_of(const char* key) const {
  const Value* written = context.section.find(key);
  PODSIM_CHECK(written != nullptr, std::string("rdu.") + key + " is not written");
  return written->place();
}

std::string Resolution::origin(const char* key, const std::string& otherwise) const {
  const Value* written = context.section.find(key);
  return written != nullptr ? origin_of(written->place()) : otherwise;
}

void Resolution::record(const std::string& key, std::string value, const std::string& origin) {
  plan->resolved_keys.push_back({"rdu." + key, std::move(value), origin});
}

std::string Resolution::choose(const char* key, const std::string& fallback, const std::string& fallback_origin) {
  const std::optional<std::string> written = read_text(context.section, key);
  record(key, toml_string(written.value_or(fallback)), written ? origin(key, "") : fallback_origin);
  return written.value_or(fallback);
}

bool Resolution::choose(const char* key, bool fallback) {
  const std::optional<bool> written = read_boolean(context.section, key);
  const bool value = written.value_or(fallback);
  record(key, value ? "true" : "false", written ? origin(key, "") : "default");
  return value;
}

void Resolution::warn_without_effect(std::initializer_list<const char*> keys, const char* why) {
  for (const char* key : keys) {
    const Value* written = context.section.find(key);
    if (written == nullptr) continue;
    diagnostics.warning(written->place(), std::string("rdu.") + key, std::string("has no effect: it is ") + why);
  }
}

void Resolution::too_large(const std::string& why) {
  diagnostics.error(context.section.place(), "model.config", why, "a smaller model, or a smaller batch");
}

}  // namespace podsim::rdu

#include "models/rdu/written_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/command/flags.hpp"
#include "sim/units/counts.hpp"

namespace podsim::rdu {
namespace {

// A list is one word of a shell.
std::string override_value(const std::string& value) {
  if (value.find(' ') == std::string::npos) return value;
  std::string list = value;
  std::ranges::replace(list, ' ', ',');
  return "[" + list + "]";
}

}  // namespace

std::string WrittenForms::flags(const std::vector<Flag>& flags) const {
  std::string text;
  for (const auto& [path, value] : flags) {
    if (!text.empty()) text += " ";
    if (!overrides) {
      text += fmt::format("{} {}", flag(path).name(), value);
      continue;
    }
    std::string key(path);
    std::ranges::replace(key, '-', '_');
    text += fmt::format("samba_compile.{}={}", key, override_value(value));
  }
  if (command) return text;
  return fmt::format("rdu.compile = \"python app.py compile{} {}\"", mode_flag.empty() ? "" : " " + mode_flag, text);
}

std::string WrittenForms::batch_text(std::int64_t size, const std::string& key) const {
  if (batch.name.empty()) return fmt::format("{} = {}", key.empty() ? "workload.micro_batch_size" : key, size);
  const auto put = [&](const WrittenBatch& flag) {
    return fmt::format("{}{}{}", flag.name, overrides ? "=" : " ", size);
  };
  std::string text = put(batch);
  if (!micro_batch.name.empty() && size % micro_batch.size != 0) text += " " + put(micro_batch);
  if (!per_device.name.empty()) text += " " + put(per_device);
  if (batch_at_run) text += " in both commands";
  return key.empty() ? text : fmt::format("{} and {} = {}", text, key, size);
}

std::string WrittenForms::copies_text(std::int64_t copies) const {
  return ranks ? counted(copies, "rank") + " in the launch command" : fmt::format("rdu.replicas = {}", copies);
}

}  // namespace podsim::rdu

#include "models/rdu/written_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/command/flags.hpp"

namespace podsim::rdu {

std::string WrittenForms::flag(std::string_view path, std::string_view value) const {
  if (!overrides) return fmt::format("{} {}", rdu::flag(path).name(), value);
  std::string key(path);
  std::ranges::replace(key, '-', '_');
  return fmt::format("samba_compile.{}={}", key, value);
}

std::string WrittenForms::batch_text(std::int64_t size) const {
  if (batch.empty()) return fmt::format("workload.micro_batch_size = {}", size);
  return fmt::format("{}{}{}{}", batch, overrides ? "=" : " ", size, batch_at_run ? " in both commands" : "");
}

std::string WrittenForms::copies_text(std::int64_t copies) const {
  return ranks ? fmt::format("{} ranks in the launch command", copies) : fmt::format("rdu.replicas = {}", copies);
}

}  // namespace podsim::rdu

// Settings of the workload that change nothing on RDUs: those that differ from their defaults are told.

#include <string>

#include "models/rdu/resolve/resolution.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::rdu {

void warn_of_idle_settings(Resolution& resolution) {
  const FamilyContext& context = resolution.context;
  const WorkloadSettings& settings = context.settings;
  const WorkloadDefaults defaults = context.model_kind.workload_defaults(context.shape);
  const auto idle = [&](bool differs, const char* key, const char* why) {
    if (!differs) return;
    resolution.diagnostics.warning(context.section.place(), std::string("workload.") + key,
                                   std::string("has no effect: ") + why);
  };
  idle(settings.split_qkv != defaults.split_qkv, "split_qkv", "query, key and value are one product on RDUs");
  idle(settings.attention_dropout != defaults.attention_dropout, "attention_dropout",
       "on RDUs it is inside the softmax, which streams");
  idle(settings.ffn_dropout != defaults.ffn_dropout, "ffn_dropout",
       "the operators of an RDU step have no dropout inside the feed-forward layers");
  idle(settings.first_moment_bytes != 0, "first_moment_format", "RDUs keep both moments in single precision");
  idle(settings.activation_checkpoint_format != "float16", "activation_checkpoint_format",
       "tensors between sections are bf16");
  idle(settings.input_bytes_per_element != 0 && settings.input_bytes_per_element != defaults.input_bytes_per_element,
       "input_bytes_per_element", "how the host sends images to RDUs is not modelled");
  idle(settings.recompute && !resolution.training(), "recompute", "only training runs anything again");
}

}  // namespace podsim::rdu

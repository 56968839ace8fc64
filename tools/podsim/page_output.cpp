#include "tools/podsim/page_output.hpp"

#include <utility>

#include "sim/report/human.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"

namespace podsim {

std::vector<OptionSpec> page_output_options() {
  return {{"out", "DIR", "also write it into a file there"}, {"force", "", "let --out replace a file"}};
}

PageOutput::PageOutput(const Arguments& arguments, const OptionSpec& format, std::string_view name)
    : format_(choice_option(arguments, format)), folder_(arguments.value("out").value_or("")) {
  if (folder_.empty()) return;
  file_ = folder_ + "/" + std::string(name) + "." + report_extension(format_);
  refuse_overwrite(file_, arguments.has("force"));
}

void PageOutput::show(const std::string& result) const {
  const std::string text = format_ == "text" ? within_width(result) : result;
  if (!folder_.empty()) {
    make_folder(folder_);
    write_file(file_, text);
  }
  format_ == "text" ? print_report(text) : print(text);
}

void PageOutput::show(Page page, const std::string& inputs_sha256) const {
  show(formatted(std::move(page), inputs_sha256, format_));
}

}  // namespace podsim

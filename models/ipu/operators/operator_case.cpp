#include "models/ipu/operators/operator_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "sim/plan/case_row.hpp"

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_wide = 128;  // every side of a dense layer that counts as large

struct UnmodelledKind {
  std::string_view name;
  std::string_view reason;
};

constexpr std::array<UnmodelledKind, 3> k_unmodelled = {{
    {"cholesky", "a factorisation by blocks that depend on each other"},
    {"triangular_solve", "a substitution by blocks that depend on each other"},
    {"ctc_loss", "a recurrence over the labels, without passes over the matrix units"},
}};

struct Target {
  std::string_view chip;
  std::string_view system;
};

constexpr std::array<Target, 3> k_targets = {{{"gc2", "gc2-c2"}, {"gc200", "pod4"}, {"bow", "bow-pod4"}}};

class RowToOperator {
 public:
  explicit RowToOperator(const CaseRow& row) : row_(row), cells_(row) {}

  PublishedCase convert() {
    read_identity();
    const std::string text = operator_text() + tiles_text();
    read_machine();
    result_.defaults = cells_.defaults();
    if (cells_.skipped()) {
      result_.content = SkippedCase{cells_.reason()};
    } else {
      result_.content = OperatorCase{cells_.take(), text};
    }
    return std::move(result_);
  }

 private:
  void read_identity() {
    target_ = cells_.required("target");
    const std::string name = cells_.cell("name");
    result_.id = name.empty() ? fmt::format("{}:{}", row_.file, row_.line) : target_ + "-" + name;
    result_.source_id = result_.id;
    result_.source = cells_.cell("source");
    result_.quantity = "cycles";
    kind_ = cells_.required("kind");
    for (const UnmodelledKind& kind : k_unmodelled) {
      if (kind.name == kind_) cells_.skip(fmt::format("{} is not modelled: {}", kind.name, kind.reason));
    }
    result_.measured = cells_.required_number("reference_cycles");
    if (!cells_.cell("reference_total_bytes").empty()) {
      if (const auto bytes = cells_.required_number("reference_total_bytes")) {
        result_.further.push_back({"bytes", *bytes});
      }
    }
  }

  void read_machine() {
    const auto target = std::ranges::find(k_targets, target_, &Target::chip);
    if (target == k_targets.end()) return cells_.skip(fmt::format("target \"{}\" is not known", target_));
    cells_.set("system", std::string(target->system));
    const std::string type = cells_.text("dtype", "half");
    const std::string partials = type == "float" ? "float" : cells_.text("partials", "float");
    const bool known = (type == "half" || type == "float") && (partials == "half" || partials == "float");
    if (!known) cells_.skip(fmt::format("dtype \"{}\" with partials \"{}\" is not known", type, partials));
    cells_.set("workload.precision", type == "float" ? "fp32" : partials == "half" ? "fp16.16" : "fp16.32");
    cells_.set("ipu.matmul_proportion", cells_.number("memory_proportion", 0.6));
  }

  std::int64_t count(const char* column) { return cells_.required_count(column).value_or(1); }

  // A size or height x width; 0 where it is not written.
  std::string padding(const char* column) { return cells_.text(column, "0"); }

  std::string tiles_text() {
    return cells_.cell("tiles").empty() ? std::string() : fmt::format(" tiles{}", count("tiles"));
  }

  // Whether the row runs forward alone, or with everything behind it.
  std::string passes(std::int64_t all) {
    const std::int64_t passes = cells_.count("passes", all);
    if (passes != 1 && passes != all) cells_.skip(fmt::format("passes {} are neither 1 nor {}", passes, all));
    return passes == 1 ? " inference" : " training";
  }

  void belongs(std::string_view group) { result_.group = fmt::format("{} {}", target_, group); }

  std::string operator_text() {
    using Writer = std::string (RowToOperator::*)();
    static constexpr std::array<std::pair<std::string_view, Writer>, 10> k_writers = {
        {{"conv_fwd_bwd_wu", &RowToOperator::convolution},
         {"oct_conv_fwd_bwd_wu", &RowToOperator::octave},
         {"dense", &RowToOperator::dense},
         {"grouped_matmul", &RowToOperator::grouped},
         {"matmul", &RowToOperator::matmul},
         {"embedding", &RowToOperator::embedding},
         {"lstm", &RowToOperator::recurrent},
         {"gru", &RowToOperator::recurrent},
         {"pool", &RowToOperator::pool},
         {"reduce", &RowToOperator::reduce}}};
    if (cells_.skipped()) return "";
    const auto writer = std::ranges::find(k_writers, kind_, &std::pair<std::string_view, Writer>::first);
    if (writer != k_writers.end()) return (this->*writer->second)();
    std::vector<std::string_view> known;
    known.reserve(k_writers.size());
    for (const auto& [name, function] : k_writers) known.push_back(name);
    cells_.skip(fmt::format("kind \"{}\" is not known: {}", kind_, fmt::join(known, ", ")));
    return "";
  }

  // Channels are those of one group in the table and of all groups in the text.
  std::string field(std::int64_t groups, bool arrow) {
    std::string text =
        fmt::format("{}x{}x{}x{}", count("batch"), groups * count("in_channels"), count("field_h"), count("field_w"));
    if (arrow) text += fmt::format(" -> {}", groups * count("out_channels"));
    return text + fmt::format(" k{}x{} s{} p{}:{}", count("kernel_h"), count("kernel_w"), cells_.count("stride", 1),
                              padding("pad_lower"), padding("pad_upper"));
  }

  std::string convolution() {
    const std::int64_t groups = cells_.count("groups", 1);
    const bool depthwise = groups > 1 && count("in_channels") == 1;
    belongs(depthwise ? "conv, depthwise" : groups > 1 ? "conv, grouped" : "conv, ungrouped");
    return "conv " + field(groups, true) + fmt::format(" g{}", groups) + passes(3);
  }

  std::string octave() {
    belongs("octave conv");
    if (cells_.count("groups", 1) > 1) cells_.skip("groups of an octave convolution are not modelled");
    return "octave " + field(1, true) +
           fmt::format(" low{}x{}", cells_.text("alpha_in", "0.25"), cells_.text("alpha_out", "0.25")) + passes(3);
  }

  std::string dense() {
    const std::int64_t least = std::min({count("m"), count("k"), count("n")});
    belongs(least >= k_wide ? "dense, large" : "dense, small");
    return fmt::format("dense {}x{}x{}", count("m"), count("k"), count("n")) + passes(3);
  }

  std::string grouped() {
    belongs("grouped matmul");
    return fmt::format("attention {}x{}x{}x{}", count("groups"), count("m"), count("k"), count("n")) + passes(3);
  }

  std::string matmul() {
    belongs("matmul");
    return fmt::format("matmul {}x{}x{}", count("m"), count("k"), count("n"));
  }

  std::string embedding() {
    belongs("embedding");
    return fmt::format("embedding {}x{} n{}", count("table_rows"), count("table_width"), count("indices")) + passes(2);
  }

  std::string recurrent() {
    belongs(kind_);
    return fmt::format("{} {}x{} -> {} t{}", kind_, count("batch"), count("in_channels"), count("out_channels"),
                       count("seq_len")) +
           passes(3);
  }

  std::string pool() {
    belongs("pooling");
    const std::string operation = cells_.text("operation", "MAX");
    if (operation != "MAX") cells_.skip(fmt::format("operation {} of pooling is not modelled", operation));
    return "pool " + field(1, false) + passes(2);
  }

  std::string reduce() {
    belongs("reduction");
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_operations = {
        {{"ADD", "add"}, {"SQUARE_ADD", "square-add"}, {"MAX", "max"}}};
    const std::string operation = cells_.text("operation", "ADD");
    const auto known =
        std::ranges::find(k_operations, operation, &std::pair<std::string_view, std::string_view>::first);
    if (known == k_operations.end()) {
      cells_.skip(fmt::format("operation {} of a reduction is not modelled", operation));
      return "";
    }
    return fmt::format("reduce {} over{} {}", cells_.required("shape"), cells_.text("reduce_dims", "0"), known->second);
  }

  const CaseRow& row_;
  CaseRowReader cells_;
  PublishedCase result_;
  std::string target_;
  std::string kind_;
};

}  // namespace

PublishedCase read_operator_case(const CaseRow& row) {
  return RowToOperator(row).convert();
}

}  // namespace podsim::ipu

#include "models/ipu/operators/operator_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "models/ipu/operators/operator_words.hpp"

namespace podsim::ipu {

namespace {

// Larger than any tensor of a machine, and small enough that all products of sizes stay exact.
constexpr double k_most_elements = 1e12;
constexpr double k_most_multiply_adds = 1e16;

struct Pair {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

class Parser {
 public:
  Parser(const std::string& text, const Place& place, Diagnostics& diagnostics)
      : tokens_(tokens_of(text)), place_(place), diagnostics_(diagnostics) {}

  std::optional<WrittenOperator> parse() {
    if (!read_kind()) return std::nullopt;
    read_sizes();
    if (spec_->arrow) read_outputs();
    while (at_ < tokens_.size()) read_word();
    if (!failed_) fill();
    if (failed_) return std::nullopt;
    return std::move(result_);
  }

 private:
  void fail(int column, std::string key, std::string problem, std::string expected = {}, std::string suggestion = {}) {
    failed_ = true;
    Place place = place_;
    if (place.line > 0) place.column += column;
    diagnostics_.error(std::move(place), std::move(key), std::move(problem), std::move(expected),
                       std::move(suggestion));
  }

  int end() const { return tokens_.empty() ? 0 : tokens_.back().column + static_cast<int>(tokens_.back().text.size()); }

  bool read_kind() {
    std::vector<std::string> names;
    for (const OperatorKindSpec& kind : operator_kinds()) names.emplace_back(kind.name);
    const std::string expected = fmt::format("one of {}", fmt::join(names, ", "));
    if (tokens_.empty()) {
      fail(0, "", "no operator is named", expected);
      return false;
    }
    std::string name = tokens_[0].text;
    if (const auto other = other_operator_names().find(name); other != other_operator_names().end())
      name = other->second;
    for (const OperatorKindSpec& kind : operator_kinds()) {
      if (kind.name == name) spec_ = &kind;
    }
    if (spec_ != nullptr) {
      at_ = 1;
      return true;
    }
    for (const auto& [other, same] : other_operator_names()) names.emplace_back(other);
    fail(0, "", fmt::format("no operator is called \"{}\"", name), expected, nearest(name, names));
    return false;
  }

  void read_sizes() {
    const std::string name(spec_->name);
    if (at_ == tokens_.size()) return fail(end(), name, "has no sizes", std::string(spec_->sizes));
    const Token& token = tokens_[at_++];
    sizes_ = sizes_in(token.text);
    const bool sound = sizes_.size() >= spec_->fewest && sizes_.size() <= spec_->most &&
                       std::ranges::all_of(sizes_, [](std::int64_t size) { return size >= 1; });
    if (!sound) {
      return fail(token.column, name, fmt::format("\"{}\" is not {}", token.text, spec_->sizes),
                  fmt::format("whole numbers from 1 to {}, with x between them", k_largest_size));
    }
    double elements = 1;
    for (const std::int64_t size : sizes_) elements *= static_cast<double>(size);
    if (elements > k_most_multiply_adds)
      fail(token.column, name, "is more than can be counted",
           fmt::format("at most {:.1e} of all sizes together", k_most_multiply_adds));
  }

  void read_outputs() {
    const std::string expected = spec_->kind == WrittenKind::lstm || spec_->kind == WrittenKind::gru
                                     ? "-> and the size of the state, in quotes, or to and it"
                                     : "-> and the channels that come out, in quotes, or to and them";
    const bool arrow = at_ + 1 < tokens_.size() && (tokens_[at_].text == "->" || tokens_[at_].text == "to");
    if (!arrow) {
      const int column = at_ < tokens_.size() ? tokens_[at_].column : end();
      return fail(column, std::string(spec_->name), "does not say what comes out", expected);
    }
    const Token& token = tokens_[at_ + 1];
    at_ += 2;
    const auto outputs = whole_number(token.text);
    if (outputs && *outputs >= 1) {
      outputs_ = *outputs;
    } else {
      fail(token.column, std::string(spec_->name), fmt::format("\"{}\" is no number from 1", token.text), expected);
    }
  }

  std::vector<std::string> known_words() const {
    std::vector<std::string> known;
    for (const OperatorWord word : spec_->words) known.emplace_back(name_of(word));
    known.insert(known.end(), spec_->flags.begin(), spec_->flags.end());
    return known;
  }

  void read_word() {
    const Token& token = tokens_[at_++];
    if (std::ranges::count(spec_->flags, token.text) > 0) {
      if (!flag_.empty()) fail(token.column, token.text, fmt::format("stands beside {}", flag_), "one of them");
      flag_ = token.text;
      return;
    }
    const std::size_t letters = std::min(token.text.find_first_of("=0123456789"), token.text.size());
    const std::string name = token.text.substr(0, letters);
    const bool equals = letters < token.text.size() && token.text[letters] == '=';
    const std::string value = token.text.substr(letters + (equals ? 1 : 0));
    for (const OperatorWordSpec& known : k_operator_words) {
      if (name != known.brief && name != known.full) continue;
      if (std::ranges::count(spec_->words, known.word) == 0) continue;
      if (!values_.emplace(known.word, Token{value, token.column}).second) {
        fail(token.column, std::string(known.full), "is given twice", "it once");
      }
      return;
    }
    const std::vector<std::string> known = known_words();
    fail(token.column, std::string(spec_->name), fmt::format("\"{}\" has no meaning here", token.text),
         fmt::format("one of {}", fmt::join(known, ", ")), nearest(name, known));
  }

  // The number of an option, `fallback` when it is not written.
  std::int64_t number(OperatorWord word, std::int64_t fallback, std::int64_t least) {
    const auto written = values_.find(word);
    if (written == values_.end()) return fallback;
    const auto value = whole_number(written->second.text);
    if (value && *value >= least) return *value;
    fail(written->second.column, std::string(name_of(word)),
         fmt::format("\"{}\" is out of range or no whole number", written->second.text),
         fmt::format("a whole number from {} to {}", least, k_largest_size));
    return fallback;
  }

  std::int64_t required(OperatorWord word, std::string_view example) {
    if (values_.contains(word)) return number(word, 1, 1);
    fail(end(), std::string(name_of(word)), "is missing", std::string(example));
    return 1;
  }

  std::optional<Pair> pair_in(std::string_view text, bool flat) const {
    const std::vector<std::int64_t> sizes = sizes_in(text);
    if (sizes.size() == 1) return Pair{flat ? 0 : sizes[0], sizes[0]};
    if (sizes.size() == 2) return Pair{sizes[0], sizes[1]};
    return std::nullopt;
  }

  Pair kernel(bool flat) {
    const auto written = values_.find(OperatorWord::kernel);
    if (written == values_.end()) return {1, 1};
    std::optional<Pair> kernel = pair_in(written->second.text, flat);
    if (kernel && flat) kernel->height = std::max<std::int64_t>(kernel->height, 1);
    if (kernel && kernel->height >= 1 && kernel->width >= 1) return *kernel;
    fail(written->second.column, "kernel", fmt::format("\"{}\" is no kernel", written->second.text),
         "a size such as 3, or height x width such as 3x1, from 1");
    return {1, 1};
  }

  // What stands before and behind the field; without the option what keeps the size at stride 1.
  std::pair<Pair, Pair> padding(const Pair& reach, bool flat) {
    const Pair before = {(reach.height - 1) / 2, (reach.width - 1) / 2};
    const Pair behind = {reach.height - 1 - before.height, reach.width - 1 - before.width};
    const auto written = values_.find(OperatorWord::padding);
    if (written == values_.end()) return {before, behind};
    const std::string& text = written->second.text;
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto lower = pair_in(std::string_view(text).substr(0, colon), flat);
    const auto upper = colon < text.size() ? pair_in(std::string_view(text).substr(colon + 1), flat) : lower;
    if (lower && upper) return {*lower, *upper};
    fail(written->second.column, "padding", fmt::format("\"{}\" is no padding", text),
         "a size such as 1, height x width such as 0x3, or both sides such as 1x1:0x0");
    return {before, behind};
  }

  // Batch, channels, field, kernel, stride and padding; output sizes follow. `text` gets the options as understood.
  ConvolutionShape field_shape(std::string& text) {
    const bool flat = sizes_.size() == 3;
    ConvolutionShape shape;
    shape.batch = sizes_[0];
    shape.in_channels = sizes_[1];
    shape.input_height = flat ? 1 : sizes_[2];
    shape.input_width = sizes_.back();
    shape.out_channels = spec_->arrow ? outputs_ : shape.in_channels;
    const Pair size = kernel(flat);
    shape.kernel_height = size.height;
    shape.kernel_width = size.width;
    shape.stride = number(OperatorWord::stride, 1, 1);
    shape.dilation = number(OperatorWord::dilation, 1, 1);
    shape.groups = number(OperatorWord::groups, 1, 1);
    const Pair reach = {(size.height - 1) * shape.dilation + 1, (size.width - 1) * shape.dilation + 1};
    const auto [lower, upper] = padding(reach, flat);
    shape.output_height = output_size("height", shape.input_height + lower.height + upper.height, reach.height, shape);
    shape.output_width = output_size("width", shape.input_width + lower.width + upper.width, reach.width, shape);
    if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
      fail(values_.at(OperatorWord::groups).column, "groups",
           fmt::format("{} does not divide {} and {} channels", shape.groups, shape.in_channels, shape.out_channels),
           "a number that divides both");
    }
    text = fmt::format(" k{}x{} s{} p{}x{}:{}x{}", size.height, size.width, shape.stride, lower.height, lower.width,
                       upper.height, upper.width);
    if (shape.dilation > 1) text += fmt::format(" d{}", shape.dilation);
    if (shape.groups > 1) text += fmt::format(" g{}", shape.groups);
    check_convolution(shape);
    return shape;
  }

  std::int64_t output_size(const char* axis, std::int64_t padded, std::int64_t reach, const ConvolutionShape& shape) {
    if (padded >= reach) return (padded - reach) / shape.stride + 1;
    const auto written = values_.find(OperatorWord::kernel);
    fail(written == values_.end() ? 0 : written->second.column, "kernel",
         fmt::format("reaches over {} of a padded {} of {}", reach, axis, padded), "a smaller kernel or more padding");
    return 1;
  }

  void check_elements(double elements, std::string_view of_what, double most = k_most_elements) {
    if (elements <= most) return;
    fail(0, std::string(spec_->name), fmt::format("has {:.3g} {}", elements, of_what),
         fmt::format("at most {:.0e}", most));
  }

  void check_convolution(const ConvolutionShape& shape) {
    const auto product = [](std::initializer_list<std::int64_t> factors) {
      double result = 1;
      for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
      return result;
    };
    const double inputs = product({shape.batch, shape.in_channels, shape.input_height, shape.input_width});
    const double outputs = product({shape.batch, shape.out_channels, shape.output_height, shape.output_width});
    const double kernel = product({shape.kernel_height, shape.kernel_width});
    const double groups = static_cast<double>(shape.groups);
    const double inputs_of_group = static_cast<double>(shape.in_channels) / groups;
    const double outputs_of_group = static_cast<double>(shape.out_channels) / groups;
    check_elements(inputs, "inputs");
    check_elements(outputs, "outputs");
    check_elements(inputs_of_group * kernel * static_cast<double>(shape.out_channels), "weights");
    check_elements(kernel * std::max(outputs * inputs_of_group, inputs * outputs_of_group), "multiply-adds",
                   k_most_multiply_adds);
  }

  OctaveConvolution octave(const ConvolutionShape& shape) {
    OctaveConvolution octave{shape, 0.25, 0.25};
    const auto written = values_.find(OperatorWord::low);
    if (written == values_.end()) return octave;
    const std::string& text = written->second.text;
    const std::size_t cross = text.find('x');
    const auto part = [](const std::string& number) {
      double value = -1;
      const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
      return problem == std::errc() && end == number.data() + number.size() ? value : -1;
    };
    octave.low_inputs = part(text.substr(0, cross));
    octave.low_outputs = cross == std::string::npos ? octave.low_inputs : part(text.substr(cross + 1));
    const auto sound = [](double value) { return value >= 0 && value <= 1; };
    if (sound(octave.low_inputs) && sound(octave.low_outputs)) return octave;
    fail(written->second.column, "low", fmt::format("\"{}\" is no part of the channels", text),
         "one or two numbers from 0 to 1, such as 0.25x0.25");
    return octave;
  }

  ReductionOperator reduction(std::string& text) {
    ReductionOperator op;
    op.elements = elements_of_sizes();
    op.outputs = op.elements;
    const auto written = values_.find(OperatorWord::over);
    std::vector<std::int64_t> gone = {0};
    if (written != values_.end()) gone = sizes_in(written->second.text);
    std::ranges::sort(gone);
    const bool sound = !gone.empty() && std::ranges::adjacent_find(gone) == gone.end() &&
                       gone.back() < static_cast<std::int64_t>(sizes_.size());
    if (!sound) {
      fail(written->second.column, "over", fmt::format("\"{}\" are no dimensions", written->second.text),
           fmt::format("numbers from 0 to {}, with x between them", sizes_.size() - 1));
      return op;
    }
    for (const std::int64_t dimension : gone) op.outputs /= sizes_[static_cast<std::size_t>(dimension)];
    if (flag_.empty()) flag_ = "add";
    op.kind =
        flag_ == "max" ? ReductionKind::largest : (flag_ == "add" ? ReductionKind::add : ReductionKind::square_add);
    text = fmt::format(" over{} {}", fmt::join(gone, "x"), flag_);
    return op;
  }

  std::int64_t elements_of_sizes() {
    double elements = 1;
    for (const std::int64_t size : sizes_) elements *= static_cast<double>(size);
    check_elements(elements, "elements");
    return failed_ ? 1 : static_cast<std::int64_t>(elements);
  }

  MatmulShape matmul() {
    const bool grouped = sizes_.size() == 4;
    const std::size_t first = grouped ? 1 : 0;
    const MatmulShape shape{grouped ? sizes_[0] : 1, sizes_[first], sizes_[first + 1], sizes_[first + 2]};
    const auto elements = [&](std::int64_t a, std::int64_t b) {
      return static_cast<double>(shape.groups) * static_cast<double>(a) * static_cast<double>(b);
    };
    check_elements(elements(shape.rows, shape.inner), "inputs");
    check_elements(elements(shape.inner, shape.columns), "weights");
    check_elements(elements(shape.rows, shape.columns), "outputs");
    return shape;
  }

  void fill() {
    OperatorDescription& description = result_.description;
    description.training = flag_ != "inference";
    description.tiles = number(OperatorWord::tiles, 0, 1);
    std::string options;
    switch (spec_->kind) {
      case WrittenKind::convolution:
        description.what = ConvolutionOperator{field_shape(options), flag_ == "first"};
        break;
      case WrittenKind::octave: {
        const OctaveConvolution op = octave(field_shape(options));
        options += fmt::format(" low{}x{}", op.low_inputs, op.low_outputs);
        description.what = op;
        break;
      }
      case WrittenKind::dense:
      case WrittenKind::attention:
        description.what = DenseOperator{matmul()};
        break;
      case WrittenKind::matmul:
        description.what = ProductOperator{matmul()};
        break;
      case WrittenKind::embedding:
        description.what = embedding(options);
        break;
      case WrittenKind::reduce:
        description.what = reduction(options);
        break;
      case WrittenKind::pool:
        description.what = PoolingOperator{field_shape(options)};
        break;
      case WrittenKind::lstm:
      case WrittenKind::gru:
        description.what = recurrent(options);
        break;
      case WrittenKind::norm:
        description.what = NormOperator{elements_of_sizes()};
        break;
      case WrittenKind::elementwise:
        description.what = ElementwiseOperator{elements_of_sizes()};
        break;
    }
    write_text(options);
  }

  EmbeddingOperator embedding(std::string& text) {
    EmbeddingOperator op{sizes_[0], sizes_[1],
                         required(OperatorWord::lookups, "how many rows are looked up, such as n1440")};
    check_elements(static_cast<double>(op.rows) * static_cast<double>(op.width), "elements");
    check_elements(static_cast<double>(op.lookups) * static_cast<double>(op.width), "outputs");
    text = fmt::format(" n{}", op.lookups);
    return op;
  }

  RecurrentOperator recurrent(std::string& text) {
    RecurrentOperator op{spec_->kind == WrittenKind::lstm ? CellKind::lstm : CellKind::gru, sizes_[0], sizes_[1],
                         outputs_, required(OperatorWord::steps, "how many steps there are, such as t25")};
    const double states = static_cast<double>(op.batch) * static_cast<double>(op.steps);
    check_elements(states * static_cast<double>(op.inputs + op.outputs), "activations");
    check_elements(static_cast<double>(op.inputs + op.outputs) * static_cast<double>(op.outputs), "weights");
    text = fmt::format(" t{}", op.steps);
    return op;
  }

  void write_text(const std::string& options) {
    result_.text = fmt::format("{} {}", spec_->name, fmt::join(sizes_, "x"));
    if (spec_->arrow) result_.text += fmt::format(" -> {}", outputs_);
    result_.text += options;
    if (result_.description.tiles > 0) result_.text += fmt::format(" tiles{}", result_.description.tiles);
    const bool passes = std::ranges::count(spec_->flags, "training") > 0;
    if (passes) result_.text += " " + (flag_.empty() ? std::string("training") : flag_);
  }

  std::vector<Token> tokens_;
  const Place& place_;
  Diagnostics& diagnostics_;
  const OperatorKindSpec* spec_ = nullptr;
  std::size_t at_ = 0;
  std::vector<std::int64_t> sizes_;
  std::int64_t outputs_ = 1;
  std::map<OperatorWord, Token> values_;
  std::string flag_;
  bool failed_ = false;
  WrittenOperator result_;
};

}  // namespace

std::optional<WrittenOperator> parse_operator(const std::string& text, const Place& place, Diagnostics& diagnostics) {
  return Parser(text, place, diagnostics).parse();
}

}  // namespace podsim::ipu

#include "models/ipu/operators/pass_cost.hpp"

#include <algorithm>
#include <cmath>

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_workers = 6;
constexpr std::int64_t k_window_width = 4;  // kernel columns of one sliding window

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Cycles turns_of_all(double turns) {
  return cycles(as_double(k_workers) * turns);
}

}  // namespace

struct PassPricer::Sizes {
  double input = 0;
  double weights = 0;
  double outputs = 0;
};

PassPricer::PassPricer(const PassConstants& constants, AmpMode mode, std::int64_t tiles, const VariantShape& shape)
    : constants_(constants),
      mode_(constants.modes[static_cast<std::size_t>(mode)]),
      single_(mode == AmpMode::single),
      tiles_(as_double(tiles)),
      shape_(shape) {}

TileShare PassPricer::share(const PassSplit& split) const {
  TileShare share;
  share.groups = divide_up(shape_.pass.groups, split.groups);
  share.batch = divide_up(shape_.pass.batch, split.batch);
  share.rows = divide_up(shape_.pass.output_height, split.rows);
  share.columns = divide_up(shape_.pass.output_width, split.columns);
  share.input_grains = divide_up(shape_.input_grains, split.input_channels);
  share.output_grains = divide_up(shape_.output_grains, split.output_channels * split.serial_steps);
  share.kernel_rows = divide_up(shape_.kernel_rows, split.kernel_rows);
  return share;
}

// Positions of the input field that a tile reads, halo included.
double PassPricer::field_in(const TileShare& share) const {
  if (shape_.flat) return as_double(share.columns);
  const PassShape& pass = shape_.pass;
  const std::int64_t kernel_rows = share.kernel_rows * shape_.packed_rows;
  const auto span = [&](std::int64_t outputs, std::int64_t kernel, std::int64_t all, std::int64_t whole_kernel) {
    const std::int64_t reach = (outputs - 1) * pass.stride + (kernel - 1) * pass.kernel_dilation;
    const std::int64_t field = all * pass.stride / pass.dilation + whole_kernel * pass.kernel_dilation;
    return as_double(std::min(reach / pass.dilation + 1, field));
  };
  return as_double(share.batch) * span(share.rows, kernel_rows, pass.output_height, pass.kernel_height) *
         span(share.columns, pass.kernel_width, pass.output_width, pass.kernel_width);
}

// Parts of the operands that a tile receives; the rest it holds.
struct PassPricer::Received {
  double input = 1;
  double weights = 1;
};

PassPricer::Received PassPricer::received(const PassSplit& split) const {
  Received received;
  if (shape_.resident == Resident::inputs) received.input -= 1 / as_double(split.output_channels);
  if (shape_.resident == Resident::weights) received.weights -= 1 / as_double(split.batch * split.rows * split.columns);
  return received;
}

PassPricer::Sizes PassPricer::sizes(const TileShare& share) const {
  const PassShape& pass = shape_.pass;
  const double groups = as_double(share.groups);
  const double k = as_double(share.input_grains * shape_.input_grain);
  const double n = as_double(share.output_grains * mode_.output_grain);
  if (shape_.sliding_window) {
    const double width = as_double(pass.in_channels);
    return {groups * field_in(share) * width, groups * width * as_double(pass.kernel_height * pass.kernel_width),
            groups * as_double(share.positions()) * width};
  }
  const double kernel = as_double(share.kernel_rows * shape_.packed_rows * pass.kernel_width);
  return {groups * field_in(share) * k, groups * k * kernel * n, groups * as_double(share.positions()) * n};
}

Cycles PassPricer::flat_vertex(const TileShare& share) const {
  const FlatVertexConstants& flat = constants_.flat;
  const std::int64_t rows = divide_up(share.columns, k_workers);
  const Cycles work = std::max(turns_of_all(mode_.row_slots * as_double(rows) + mode_.worker_start), flat.shortest);
  const Cycles output_grain = flat.output_grain + mode_.weight_load + work;
  const Cycles input_grain = flat.input_grain + as_double(share.output_grains) * output_grain;
  const Cycles group = flat.group + as_double(share.input_grains) * input_grain;
  Cycles total = flat.start + as_double(share.groups) * group;
  if (single_) {
    total += as_double(share.groups * share.output_grains) *
             (as_double(share.columns) * flat.zeroing_position + flat.zeroing);
  }
  return total;
}

// Of one kernel position, what does not depend on the field.
Cycles PassPricer::kernel_position() const {
  const FieldVertexConstants& field = constants_.field;
  const std::size_t packed = shape_.packed_rows == 1 ? 0 : shape_.packed_rows == 2 ? 1 : 2;
  return field.kernel_position + mode_.weight_load + field.packed_rows[packed] +
         field.kernel_columns / as_double(shape_.pass.kernel_width);
}

Cycles PassPricer::field_vertex(const TileShare& share) const {
  const FieldVertexConstants& field = constants_.field;
  const PassShape& pass = shape_.pass;
  const double dilation = as_double(pass.dilation);
  const std::int64_t rows = share.batch * divide_up(share.rows, pass.dilation);
  const std::int64_t rows_of_worker = divide_up(rows, k_workers);
  const double positions = as_double(share.positions()) / (dilation * dilation) * shape_.useful;
  const double fullest_worker = as_double(rows_of_worker * divide_up(share.columns, pass.dilation)) *
                                std::min(1.0, as_double(rows) / as_double(k_workers));
  const double worker = std::max(positions / as_double(k_workers), fullest_worker);
  const Cycles inner =
      kernel_position() +
      turns_of_all(field.worker_start + field.worker_segment * as_double(rows_of_worker) + mode_.row_slots * worker);
  const Cycles kernel_row = field.kernel_row + as_double(pass.kernel_width) * inner;
  const Cycles output_grain = field.output_grain + as_double(share.kernel_rows) * kernel_row;
  const Cycles input_grain = field.input_grain + as_double(share.output_grains) * output_grain;
  const Cycles group = field.group + as_double(share.input_grains) * input_grain;
  const double zeroed = as_double(share.positions() * mode_.output_grain) / mode_.adds_per_cycle;
  return field.start + as_double(share.groups) * group +
         as_double(share.groups * share.output_grains) * (cycles(zeroed) + field.zeroing);
}

Cycles PassPricer::window_vertex(const TileShare& share) const {
  const WindowVertexConstants& window = constants_.window;
  const PassShape& pass = shape_.pass;
  const std::int64_t rows = divide_up(share.batch * share.rows, k_workers);
  const double positions = as_double(rows * share.columns);
  const double passes = mode_.partial_bytes > mode_.element_bytes ? 2 : 1;
  const Cycles inner = passes * turns_of_all(window.worker_start + window.worker_segment * as_double(rows) +
                                             as_double(pass.stride) * positions);
  const double sub_kernels = as_double(pass.kernel_height * divide_up(pass.kernel_width, k_window_width));
  return window.start + as_double(share.groups) * window.group +
         sub_kernels * (window.sub_kernel + as_double(share.groups) * inner);
}

Cycles PassPricer::vertex(const TileShare& share) const {
  if (shape_.sliding_window) return window_vertex(share);
  return shape_.flat ? flat_vertex(share) : field_vertex(share);
}

CostByPart PassPricer::price(const PassSplit& split, const TileShare& share) const {
  const Sizes elements = sizes(share);
  const double steps = as_double(split.serial_steps);
  const double e = as_double(mode_.element_bytes);
  const double partial = as_double(mode_.partial_bytes);
  const double rate = constants_.exchange_bytes_per_cycle;
  const double row_rate = split.output_channels % 2 == 0 ? rate * constants_.pair_broadcast_factor : rate;
  const double parts = as_double(split.input_channels * split.kernel_rows);
  const bool reduces = parts > 1;
  CostByPart cost;
  cost.vertex = steps * vertex(share);
  const Received part = received(split);
  cost.exchange =
      cycles(part.input * elements.input * e / row_rate + steps * part.weights * elements.weights * e / rate);
  if (reduces) {
    cost.reduction_exchange = steps * cycles(elements.outputs / parts * (parts - 1) * partial / rate);
    cost.reduction = steps * (cycles(elements.outputs / mode_.adds_per_cycle) + constants_.reduction_start);
  }
  if (split.serial_steps > 1) {
    const PassShape& pass = shape_.pass;
    const double all_weights = as_double(pass.groups * pass.in_channels * pass.kernel_height * pass.kernel_width) *
                               as_double(pass.out_channels);
    const double rearranged = constants_.serial_weight_share * all_weights * e / tiles_ / steps / rate;
    cost.serial =
        steps * (constants_.serial_start + cycles(rearranged) + elements.outputs / parts * constants_.serial_output);
  }
  cost.sync = steps * (reduces ? 4.0 : 2.0) * constants_.superstep_sync;
  cost.layout = as_double(shape_.folded_elements) / tiles_ * e * constants_.fold_byte;
  cost.temporary = Bytes(static_cast<std::int64_t>(elements.input * e + elements.weights * e +
                                                   elements.outputs * partial * (reduces ? 2 : 1)));
  return cost;
}

CostByPart PassPricer::least(const PassSplit& split, const TileShare& share, double positions) const {
  const PassShape& pass = shape_.pass;
  const double e = as_double(mode_.element_bytes);
  const double grains = as_double(share.groups * share.input_grains * share.output_grains);
  const double weights = grains * as_double(shape_.input_grain * mode_.output_grain) *
                         as_double(share.kernel_rows * shape_.packed_rows * pass.kernel_width);
  const double dilation = as_double(pass.dilation);
  const double worker = positions / (dilation * dilation) * shape_.useful / as_double(k_workers);
  const Cycles inner =
      shape_.flat ? mode_.weight_load + turns_of_all(mode_.row_slots * worker + mode_.worker_start)
                  : kernel_position() + turns_of_all(constants_.field.worker_start + constants_.field.worker_segment +
                                                     mode_.row_slots * worker);
  const double steps = as_double(split.serial_steps);
  CostByPart least;
  least.vertex = steps * grains * as_double(share.kernel_rows * pass.kernel_width) * inner;
  if (shape_.resident == Resident::none) {
    least.exchange = cycles(steps * weights * e / constants_.exchange_bytes_per_cycle);
  }
  least.layout = as_double(shape_.folded_elements) / tiles_ * e * constants_.fold_byte;
  const double outputs = as_double(share.groups * share.output_grains * mode_.output_grain) * positions;
  const bool reduces = split.input_channels * split.kernel_rows > 1;
  least.temporary = Bytes(static_cast<std::int64_t>(weights * e) +
                          static_cast<std::int64_t>(outputs * as_double(mode_.partial_bytes) * (reduces ? 2 : 1)));
  return least;
}

}  // namespace podsim::ipu

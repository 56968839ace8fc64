#pragma once
// Sweeps as users start them, and their databases as text.

#include <string>

#include "sim/report/result_columns.hpp"
#include "sim/store/sweep_store.hpp"
#include "tests/support/experiment_folder.hpp"

namespace podsim::test {

// A sweep over BERT-Base on a Pod4 with `accumulations` times `bandwidths` points.
inline std::string sweep_file(int accumulations, int bandwidths) {
  return "name = \"s\"\nsystem = \"pod4\"\n\n[model]\nconfig = \"bert-base-uncased\"\n\n"
         "[workload]\nsequence_length = 128\n\n[ipu]\nlayers_per_ipu = [3, 3, 3, 3]\n\n"
         "[sweep.axes]\n\"ipu.gradient_accumulation_steps\" = {from = 9, to = " +
         std::to_string(accumulations + 8) +
         "}\n\"system.ipu_link.bandwidth\" = {from = \"20 GB/s\", to = \"80 GB/s\", count = " +
         std::to_string(bandwidths) + "}\n";
}

// Every row of every table, sorted by its key.
inline std::string dump_of(const std::string& path) {
  SweepStore store = SweepStore::read(path);
  std::string text;
  for (const char* query : {"SELECT * FROM sweep ORDER BY name", "SELECT * FROM points ORDER BY point",
                            "SELECT * FROM audit ORDER BY point"}) {
    Statement select = store.database().prepare(query);
    while (select.step()) {
      for (int c = 0; c < select.columns(); ++c) text += csv_text(select.cell(c)) + "|";
      text += "\n";
    }
  }
  return text;
}

}  // namespace podsim::test

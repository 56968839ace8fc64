#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/report/human.hpp"
#include "sim/report/report.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;

namespace {

const char* const k_sample_text = R"(sample
duo, stack-1, tiny, training

  Throughput   10,240 sequences/s, 5,120 packs/s, 2,621,440 tokens/s; 2,560 packs/s per device
  Step         200 ms for 1,024 packs (one weight update)
  Efficiency   MFU 30.5 %, HFU 40.2 % of 2 devices
  Verdict      fits; the fullest memory, d1.memory, is at 87.5 % of its limit
  Bottleneck   compute on d1, 75.0 % of the step
  Evidence     nearest published measurement: case-7 (error +2.2 %); outside of it: sequence length

Batch and schedule
  micro-batch 2, global batch 1,024, 2,048 packs per host call
  optimizer lamb (default)
  pipelined, 2 forward stages, 4 stages in all, 512 cycles per update of 380 us each

Where the time goes (d1, one step)
  compute        150 ms  75.0 %  ███████████████
  exchange        10 ms   5.0 %  █
  weight update    5 ms   2.5 %  ▌
  bubble          35 ms  17.5 %  ███▌

Devices (share of the step)
        busy  compute  exchange  weight update  bubble
  d0  57.5 %   50.0 %     5.0 %          2.5 %  42.5 %
  d1  82.5 %   75.0 %     5.0 %          2.5 %  17.5 %

Memory
             always live     need    limit    fill
  d0.memory      300 MiB  500 MiB  800 MiB  62.5 %  ████████████▌
  d1.memory      300 MiB  700 MiB  800 MiB  87.5 %  █████████████████▌
  In d1.memory at its peak: activations 400 MiB, weights 300 MiB

Links (one program run)
                        carried    busy
  d0 to d1 and 1 alike   64 MiB  12.5 %  ██▌

Time to train
  3 min: 977 updates for 1,000,000 samples; without evaluation, compile

Stages
  stage  time_s  layers  note
      0   0.125      12  embedding, first
      1    0.25       -

Warnings
  sample.toml:9:1: warning: workload.x: has no effect

Engine native: 1,234 events, 400 ms simulated, equal replicas once, one iteration of each repeat;
  not folded: ring: needs every link
podsim 1.2.3 (0123abcd), inputs 0011223344556677
)";

const char* const k_check_text = R"(sample
duo, stack-1, tiny, training

  Verdict      DOES NOT FIT: device memory on d1 needs 850 MiB, has 800 MiB (and 1 more, below); try
               micro_batch_size = 1
  Evidence     not compared with published measurements

Why it does not fit
  device memory on d1 needs 850 MiB, has 800 MiB; try micro_batch_size = 1
  open streams on d1 needs 12, has 8

Batch and schedule
  micro-batch 2, global batch 1,024, 2,048 packs per host call
  optimizer lamb (default)
  pipelined, 2 forward stages, 4 stages in all, 512 cycles per update

Memory
             always live     need    limit     fill
  d0.memory      300 MiB  500 MiB  800 MiB   62.5 %  ████████████▌
  d1.memory      300 MiB  850 MiB  800 MiB  106.2 %  ████████████████████ over
  In d1.memory: activations 550 MiB, weights 300 MiB

Warnings
  sample.toml:9:1: warning: workload.x: has no effect

podsim 1.2.3 (0123abcd), inputs 0011223344556677
)";

}  // namespace

TEST_CASE("text: a remedy that mends every broken limit is told once behind them") {
  Report report = test::sample_check_that_does_not_fit();
  REQUIRE(report.verdict.broken.size() == 2);
  report.verdict.broken[1].remedy = report.verdict.broken[0].remedy;
  CHECK(to_text(report).find("\nWhy it does not fit\n"
                             "  device memory on d1 needs 850 MiB, has 800 MiB\n"
                             "  open streams on d1 needs 12, has 8\n"
                             "  for all of them, try micro_batch_size = 1\n") != std::string::npos);
}

TEST_CASE("text report: the head says what matters and tables follow") {
  CHECK(to_text(test::sample_report()) == k_sample_text);
}

TEST_CASE("text report: a check that does not fit names each limit and the remedy") {
  CHECK(to_text(test::sample_check_that_does_not_fit()) == k_check_text);
}

TEST_CASE("text report: the head has at most twelve lines") {
  const std::string text = to_text(test::sample_report());
  const std::string head = text.substr(0, text.find("Batch and schedule"));
  CHECK(std::count(head.begin(), head.end(), '\n') <= 12);
}

TEST_CASE("text report: no line is wider than a hundred columns, whatever the names") {
  Report report = test::sample_report();
  report.name = std::string(300, 'n');
  report.evidence.outside.assign(40, "something outside");
  report.devices[0].id = std::string(150, 'd');
  report.devices[0].memories[0].name = std::string(150, 'm');
  report.links[0].name = std::string(150, 'l');
  for (int column = 0; column < 20; ++column) {
    report.tables[0].columns.push_back({"column_" + std::to_string(column), ""});
    for (auto& row : report.tables[0].rows) row.emplace_back(1.0);
  }
  std::istringstream lines(to_text(report));
  for (std::string line; std::getline(lines, line);) CHECK(text_width(line) <= 100);
  CHECK(to_text(report).find("more columns in --format json") != std::string::npos);
}

TEST_CASE("text report: devices, memories and links that show the same are one row") {
  Report report = test::sample_report();
  report.devices.assign(64, report.devices[0]);
  for (std::size_t d = 0; d < 64; ++d) {
    report.devices[d].id = "d" + std::to_string(d);
    report.devices[d].memories[0].name = "m" + std::to_string(d);
  }
  const std::string text = to_text(report);
  CHECK(text.find("  d0 and 63 alike  57.5 %") != std::string::npos);
  CHECK(text.find("  m0 and 63 alike ") != std::string::npos);
  CHECK(text.find("  d0 to d1 and 1 alike ") != std::string::npos);
}

TEST_CASE("text report: a long table is cut and says so") {
  Report report = test::sample_report();
  report.tables[0].rows.assign(20, report.tables[0].rows[0]);
  CHECK(to_text(report).find("  … and 4 more rows in --format json\n") != std::string::npos);
}

TEST_CASE("text report: the wall time does not show") {
  Report report = test::sample_report();
  const std::string before = to_text(report);
  report.engine->wall_s = 77.0;
  CHECK(to_text(report) == before);
}

TEST_CASE("text report: inference shows the latency of a host call") {
  Report report = test::sample_report();
  report.mode = RunMode::inference;
  report.latency = Latency{0.25, 0.125, 0.001};
  const std::string text = to_text(report);
  CHECK(text.find("(one host call)") != std::string::npos);
  CHECK(text.find("  request 250 ms, first token 125 ms, each further token 1 ms\n") != std::string::npos);
  CHECK(text.find("the host has the results when the host call ends, after\n    200 ms\n") != std::string::npos);
}

TEST_CASE("text report: names cannot steer a terminal") {
  Report report = test::sample_report();
  report.name = report.system = report.software = report.model = "a\x1b[31mb\rc";
  const std::string text = to_text(report);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
}

// Predicts the time of a large run from small ones, and then makes it. Times go to standard error.
//     mpiexec -n 4 prediction
#include <cstdio>
#include <skel/model/model.hpp>
#include <skel/model/predict.hpp>
#include <skel/skel.hpp>
#include <vector>

// The length of the Collatz sequence of n.
std::uint64_t length(std::uint64_t n) {
  std::uint64_t count = 1;
  for (++n; n != 1; ++count) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return count;
}

int main(int argc, char** argv) {
  return skel::run_main(argc, argv, [](skel::context& ctx) {
    std::uint64_t sum = 0;
    auto const run = [&](std::uint64_t n) {
      sum = 0;
      return skel::farm(ctx, skel::indices(n), length, skel::schedule::guided{},
                        skel::reduced(sum, [](std::uint64_t a, std::uint64_t b) { return a + b; }))
          .report.seconds;
    };
    std::vector<skel::model::sample> samples;
    for (std::uint64_t n = 50'000; n <= 400'000; n *= 2)
      for (int repetition = 0; repetition < 3; ++repetition) {
        skel::model::sample s;
        s.program = "prediction";
        s.skeleton = "farm";
        s.variables = {{"n", static_cast<double>(n)}};
        s.measured = {{"seconds", run(n)}};
        samples.push_back(s);
      }
    constexpr std::uint64_t large = 2'000'000;
    if (ctx.is_root()) {  // the report is complete on the root
      skel::model::model_options options;
      options.basis[""] = "1 + n";
      auto const model = skel::model::fit_model(samples, options);
      auto const cost = skel::model::predict(model.skeletons.at(0), nullptr, {{"n", large}}, ctx.size());
      auto const [low, high] = cost.interval();
      std::fprintf(stderr, "expected: %.3f s, with 95 %% between %.3f and %.3f s\n", cost.seconds(), low,
                   high);
    }
    double const seconds = run(large);
    if (!ctx.is_root()) return;
    std::fprintf(stderr, "measured: %.3f s\n", seconds);
    std::printf("%llu steps\n", static_cast<unsigned long long>(sum));
  });
}

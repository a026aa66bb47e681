// skel-volume: renders volumes on rectilinear grids as a farm over sets of pixels [Storm95].
#include <CLI/CLI.hpp>

#include "array_file.hpp"
#include "options.hpp"
#include "program.hpp"
#include "program/run_program.hpp"

int main(int argc, char** argv) {
  int const code =
      skel::program::run_program(argc, argv,
                                 {.name = "skel-volume",
                                  .description = "Renders scalar fields on rectilinear grids, on all ranks.",
                                  .checkpoints = true,
                                  .inputs = {"--spec", "--machine"},
                                  .outputs = {"--unit-costs"},
                                  .may_differ = {"FIELD", "--series", "--instructions"},
                                  .formats = ".png, .ppm, .pfm or .exr"},
                                 volume::add_options, volume::render_all);
  volume_data::silence_hdf5();  // which complains at the end of the process about damaged files
  return code;
}

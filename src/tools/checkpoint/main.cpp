// skel-checkpoint: stores ordinary files as erasure-coded shards; see docs/reference/checkpoint.md.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "program/options.hpp"
#include "program/run_tool.hpp"
#include "tools/checkpoint/telling.hpp"
#include "tools/checkpoint/verbs.hpp"

namespace {

using namespace skel::program;
using skel::storage::arguments;

struct verb {
  CLI::App* options;
  int (*run)(arguments const&);
};

verb add_verb(CLI::App& program, char const* name, char const* what, int (*run)(arguments const&)) {
  return {program.add_subcommand(name, what), run};
}

void add_directories(CLI::App& app, arguments& a, char const* names, char const* what) {
  option(app, std::string(names) + " DIR,…", a.directories, what, comma_list, required)
      ->allow_extra_args(false);
}

void add_name(CLI::App& app, arguments& a, char const* what, bool is_required) {
  option(app, "NAME", a.name, what)->required(is_required);
  app.add_option("--generation", a.generation, "this generation [the newest that can be restored]");
  option(app, "--object ID", a.object, "this object, if several have the same generation; see list");
}

void add_output_options(CLI::App& app, arguments& a) {
  option(app, "--progress", a.progress, "auto, always or never", CLI::IsMember({"auto", "always", "never"}))
      ->envname("SKEL_PROGRESS");
  app.add_flag("--quiet", a.quiet, "print only problems");
}

verb add_encode(CLI::App& program, arguments& a) {
  auto const v =
      add_verb(program, "encode", "split a file into shards, one per directory", skel::storage::encode);
  option(*v.options, "FILE", a.file, "file to store", required);
  option(*v.options, "--code", a.code,
         "replicate:COPIES, parity:SLICES (plus one), "
         "ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec] or central (one "
         "copy)",
         required);
  add_directories(*v.options, a, "--to,--store", "one directory per shard");
  v.options->add_option("--name", a.name, "name of the object [the file's name]");
  v.options->add_option("--generation", a.generation, "number of the new generation [newest plus one]");
  option(*v.options, "--keep", a.keep,
         "generations to keep, 0 for all; older ones are removed once the new one is complete",
         shown_default);
  add_key_option(*v.options, a.key_file, "key for encryption");
  add_output_options(*v.options, a);
  return v;
}

verb add_decode(CLI::App& program, arguments& a) {
  auto const v = add_verb(program, "decode", "restore a file from its shards", skel::storage::decode);
  add_name(*v.options, a, "object to restore", true);
  add_directories(*v.options, a, "--from,--store", "directories of its shards; some may be missing");
  option(*v.options, "-o,--output FILE", a.output, "restored file; -: standard output", required);
  add_key_option(*v.options, a.key_file, "key of an encrypted object");
  add_output_options(*v.options, a);
  return v;
}

verb add_without_key(CLI::App& program, arguments& a, char const* name, char const* what,
                     int (*run)(arguments const&)) {
  auto const v = add_verb(program, name, what, run);
  add_name(*v.options, a, "object [list, verify: all objects; repair: programs' checkpoints]", false);
  add_directories(*v.options, a, "--from,--store", "directories of shards");
  add_output_options(*v.options, a);
  return v;
}

std::vector<verb> add_verbs(CLI::App& app, arguments& a) {
  app.require_subcommand(1);
  auto const repair = add_without_key(
      app, a, "repair", "rewrite missing and damaged shards, remove second copies and foreign ones",
      skel::storage::repair);
  repair.options->add_flag(
      "--remove-lost", a.remove_lost,
      "without NAME: also remove checkpoints that cannot be restored from these directories");
  return {add_encode(app, a), add_decode(app, a),
          add_without_key(app, a, "verify",
                          "read every block; exit code 1 if anything is damaged, or nothing is found",
                          skel::storage::verify),
          repair,
          add_without_key(app, a, "list", "list the contents, reading headers only", skel::storage::list)};
}

}  // namespace

int main(int argc, char** argv) {
  arguments a;
  std::vector<verb> verbs;
  return run_tool(
      argc, argv,
      {skel::storage::program_name, "Erasure-coded shards of files: any m of m + k restore the data."},
      [&](CLI::App& app) { verbs = add_verbs(app, a); },
      [&] {
        auto const chosen = std::ranges::find_if(verbs, [](verb const& v) { return v.options->parsed(); });
        return chosen->run(a);
      });
}

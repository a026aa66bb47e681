// skel-checkpoint: ordinary files as erasure-coded shards; docs/checkpoint.md.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "program/run_tool.hpp"
#include "tools/checkpoint/telling.hpp"
#include "tools/checkpoint/verbs.hpp"

namespace {

using skel::storage::arguments;

struct verb {
  CLI::App* options;
  int (*run)(arguments const&);
};

verb add_verb(CLI::App& program, char const* name, char const* what, int (*run)(arguments const&)) {
  return {program.add_subcommand(name, what), run};
}

void add_directories(CLI::App& app, arguments& a, char const* option, char const* what) {
  app.add_option(option, a.directories, what)
      ->type_name("DIR,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
}

void add_name(CLI::App& app, arguments& a, char const* what, bool required) {
  app.add_option("NAME", a.name, what)->required(required);
  app.add_option("--generation", a.generation, "this one only [the newest that can be given back]");
  app.add_option("--object", a.object, "this one only, where two have the same generation; list names them")
      ->type_name("ID");
}

void add_output_options(CLI::App& app, arguments& a) {
  app.add_option("--progress", a.progress, "auto, always or never")
      ->envname("SKEL_PROGRESS")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--quiet", a.quiet, "say only what is wrong");
}

void add_key(CLI::App& app, arguments& a, char const* what) {
  app.add_option("--key-file", a.key_file, what)->type_name("FILE");
}

verb add_encode(CLI::App& program, arguments& a) {
  auto const v =
      add_verb(program, "encode", "a file becomes shards, one in each directory", skel::storage::encode);
  v.options->add_option("FILE", a.file, "what is stored")->required();
  v.options
      ->add_option("--code", a.code,
                   "replicate:COPIES, parity:SLICES (and one more) or "
                   "ida:DATA,PARITY[,matrix=vandermonde|cauchy|zfec]")
      ->required();
  add_directories(*v.options, a, "--to", "one directory for each shard");
  v.options->add_option("--name", a.name, "of what is stored [the file's]");
  v.options->add_option("--generation", a.generation, "[one more than the newest there is]");
  v.options
      ->add_option("--keep", a.keep,
                   "generations to keep, 0 for all; older ones go when the new one is whole")
      ->capture_default_str();
  v.options->add_option("--block-size", a.block_size, "bytes that share a hash")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1U << 24U));
  add_key(*v.options, a, "encrypt with this key: 32 bytes or 64 hexadecimal digits");
  add_output_options(*v.options, a);
  return v;
}

verb add_decode(CLI::App& program, arguments& a) {
  auto const v = add_verb(program, "decode", "shards become a file again", skel::storage::decode);
  add_name(*v.options, a, "what to give back", true);
  add_directories(*v.options, a, "--from", "where its shards lie; some may be missing");
  v.options->add_option("-o,--output", a.output, "the file")->type_name("FILE")->required();
  add_key(*v.options, a, "of what was encrypted");
  add_output_options(*v.options, a);
  return v;
}

verb add_without_key(CLI::App& program, arguments& a, char const* name, char const* what,
                     int (*run)(arguments const&)) {
  auto const v = add_verb(program, name, what, run);
  add_name(*v.options, a, "what to look at [list, verify: all there is; repair: a program's checkpoint]",
           false);
  add_directories(*v.options, a, "--from", "where shards lie");
  add_output_options(*v.options, a);
  return v;
}

std::vector<verb> add_verbs(CLI::App& app, arguments& a) {
  app.require_subcommand(1);
  return {add_encode(app, a), add_decode(app, a),
          add_without_key(app, a, "verify", "read every block; exit code 1 where anything is amiss",
                          skel::storage::verify),
          add_without_key(app, a, "repair", "write anew what is missing or damaged", skel::storage::repair),
          add_without_key(app, a, "list", "what there is, by headers only", skel::storage::list)};
}

}  // namespace

int main(int argc, char** argv) {
  arguments a;
  std::vector<verb> verbs;
  return skel::program::run_tool(
      argc, argv,
      {skel::storage::program_name, "Erasure-coded shards of files: any m of m + k give the data back."},
      [&](CLI::App& app) { verbs = add_verbs(app, a); },
      [&] {
        auto const chosen = std::ranges::find_if(verbs, [](verb const& v) { return v.options->parsed(); });
        return chosen->run(a);
      });
}

#include "tools/run/ranks/pmix_server.hpp"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "skel/error.hpp"

namespace skel::commands {

namespace {

void check(char const* what, pmix_status_t status) {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw error(std::string("PMIx: ") + what + ": " + ::PMIx_Error_string(status));
}

// Values by key, in the form in which PMIx takes them.
class infos {
 public:
  infos() = default;
  ~infos() {
    for (auto& i : all_) PMIX_INFO_DESTRUCT(&i);
  }
  infos(infos const&) = delete;
  infos& operator=(infos const&) = delete;

  void add(char const* key, std::string const& value) { load(key, value.c_str(), PMIX_STRING); }
  void add(char const* key, bool value) { load(key, &value, PMIX_BOOL); }
  void add(char const* key, std::uint16_t value) { load(key, &value, PMIX_UINT16); }
  void add(char const* key, std::uint32_t value) { load(key, &value, PMIX_UINT32); }
  void add_rank(char const* key, pmix_rank_t value) { load(key, &value, PMIX_PROC_RANK); }
  // A text that PMIx has made of a list.
  void add_list(char const* key, pmix_status_t (*make)(char const*, char**), std::string const& list) {
    char* text = nullptr;
    check(key, make(list.c_str(), &text));
    load(key, text, PMIX_REGEX);
    std::free(text);  // NOLINT: PMIx has allocated it
  }
  void add(char const* key, infos& values) {
    pmix_data_array_t array{PMIX_INFO, values.size(), values.data()};
    load(key, &array, PMIX_DATA_ARRAY);  // copies them
  }
  [[nodiscard]] pmix_info_t* data() { return all_.data(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  void load(char const* key, void const* value, pmix_data_type_t type) {
    pmix_info_t i;
    PMIX_INFO_CONSTRUCT(&i);
    PMIX_INFO_LOAD(&i, key, value, type);
    all_.push_back(i);
  }

  std::vector<pmix_info_t> all_;
};

pmix_proc_t process_of(std::string const& job, pmix_rank_t rank) {
  pmix_proc_t p;
  PMIX_LOAD_PROCID(&p, job.c_str(), rank);
  return p;
}

// --- requests of processes, in a thread of PMIx. What all of them do together on one host, PMIx does itself.

process_states& states_of(void* registered) { return *static_cast<process_states*>(registered); }

pmix_status_t connected(pmix_proc_t const* who, void* states, pmix_info_t* /*with*/, std::size_t /*size*/,
                        pmix_op_cbfunc_t /*done*/, void* /*of*/) {
  states_of(states).inside.at(who->rank) = true;
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t finalized(pmix_proc_t const* who, void* states, pmix_op_cbfunc_t /*done*/, void* /*of*/) {
  states_of(states).inside.at(who->rank) = false;
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t aborted(pmix_proc_t const* /*who*/, void* states, int status, char const* /*text*/,
                      pmix_proc_t* /*whom*/, std::size_t /*size*/, pmix_op_cbfunc_t /*done*/, void* /*of*/) {
  states_of(states).abort(status);
  ::kill(::getpid(), SIGCHLD);
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t fence(pmix_proc_t const* /*whom*/, std::size_t /*processes*/, pmix_info_t const* /*with*/,
                    std::size_t /*infos*/, char* data, std::size_t size, pmix_modex_cbfunc_t done, void* of) {
  if (done != nullptr) done(PMIX_SUCCESS, data, size, of, nullptr, nullptr);
  return PMIX_SUCCESS;
}

pmix_server_module_t requests() {
  pmix_server_module_t m{};
  m.client_connected2 = connected;
  m.client_finalized = finalized;
  m.abort = aborted;
  m.fence_nb = fence;
  return m;
}

// --- the description of the job

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

void add_process(infos& job, pmix_rank_t rank, std::string const& host) {
  infos p;
  auto const here = static_cast<std::uint16_t>(rank);
  p.add_rank(PMIX_RANK, rank);
  p.add_rank(PMIX_GLOBAL_RANK, rank);
  p.add_rank(PMIX_APP_RANK, rank);
  p.add(PMIX_LOCAL_RANK, here);
  p.add(PMIX_NODE_RANK, here);
  p.add(PMIX_APPNUM, std::uint32_t{0});
  p.add(PMIX_NODEID, std::uint32_t{0});
  p.add(PMIX_HOSTNAME, host);
  job.add(PMIX_PROC_DATA, p);
}

void register_job(std::string const& name, std::string const& folder, unsigned processes) {
  infos job;
  std::string ranks;
  for (unsigned r = 0; r < processes; ++r) ranks += (r > 0 ? "," : "") + std::to_string(r);
  for (auto const* const key :
       {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_APP_SIZE, PMIX_MAX_PROCS, PMIX_NODE_SIZE, PMIX_LOCAL_SIZE})
    job.add(key, std::uint32_t{processes});
  job.add(PMIX_JOB_NUM_APPS, std::uint32_t{1});
  job.add(PMIX_NUM_NODES, std::uint32_t{1});
  job.add(PMIX_JOBID, name);
  job.add(PMIX_LOCAL_PEERS, ranks);
  job.add_rank(PMIX_LOCALLDR, 0);
  auto const host = host_name();
  job.add_list(PMIX_NODE_MAP, ::PMIx_generate_regex, host);
  job.add_list(PMIX_PROC_MAP, ::PMIx_generate_ppn, ranks);
  job.add(PMIX_TMPDIR, folder);
  job.add(PMIX_NSDIR, folder);
  for (unsigned r = 0; r < processes; ++r) add_process(job, r, host);
  check("register the job", ::PMIx_server_register_nspace(name.c_str(), static_cast<int>(processes),
                                                          job.data(), job.size(), nullptr, nullptr));
}

}  // namespace

pmix_server::pmix_server(std::string const& folder, process_states& states) {
  static pmix_server_module_t answers = requests();
  infos how;
  how.add(PMIX_SERVER_TMPDIR, folder);
  how.add(PMIX_SYSTEM_TMPDIR, folder);
  how.add(PMIX_SERVER_TOOL_SUPPORT, false);
  check("start the server", ::PMIx_server_init(&answers, how.data(), how.size()));
  // Open MPI derives names in shared memory from it.
  name_ = "skel-run." + std::to_string(::getpid()) + "." +
          std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  auto const processes = static_cast<unsigned>(states.inside.size());
  register_job(name_, folder, processes);
  for (unsigned r = 0; r < processes; ++r) {
    auto const p = process_of(name_, r);
    check("register a process",
          ::PMIx_server_register_client(&p, ::getuid(), ::getgid(), &states, nullptr, nullptr));
  }
}

pmix_server::~pmix_server() {
  ::PMIx_server_deregister_nspace(name_.c_str(), nullptr, nullptr);
  ::PMIx_server_finalize();
}

std::vector<std::string> pmix_server::variables(unsigned rank) const {
  auto const p = process_of(name_, rank);
  char** all = nullptr;
  check("set up a process", ::PMIx_server_setup_fork(&p, &all));
  // Open MPI 4 uses PMIx only if one of the launchers that it knows has started the process. This variable
  // of IBM's jsrun is the only one without other effects.
  std::vector<std::string> found{"JSM_JSRUN_PORT=0"};
  for (char** v = all; v != nullptr && *v != nullptr; ++v) {
    found.emplace_back(*v);
    std::free(*v);  // NOLINT: PMIx has allocated them
  }
  std::free(all);  // NOLINT
  return found;
}

}  // namespace skel::commands

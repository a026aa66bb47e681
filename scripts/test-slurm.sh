#!/usr/bin/env bash
# For maintainers: runs skel's programs under a real Slurm on this machine. See --help.
install=yes
programs=
usage() {
  cat <<'TEXT'
usage: scripts/test-slurm.sh [--programs DIR] [--no-install]

As root, starts munged, slurmctld and slurmd on loopback, with configuration, sockets and logs of their own in a temporary
folder, and tests: srun with PMIx and without; the loss of a rank, also of rank 0, under skel-mpiexec; the job scripts of
packaging/slurm: a signal before the time limit, and jobs that resume after a warning, after a requeue, after the loss of a
rank, and for commands that could not end in time.
  --programs DIR  use the programs in DIR instead of building them
  --no-install    do not install missing Debian packages: list them and exit with code 1

Best run in a root of its own:
    scripts/try-in-chroot.sh scripts/test-slurm.sh
TEXT
}
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
while (($# > 0)); do
  case $1 in
    --programs) programs=$(realpath "${2:?}") && shift ;;
    --no-install) install=no ;;
    *) help_or_mistake "$1" ;;
  esac
  shift
done
need_packages slurmctld slurmd slurm-client munge openmpi-bin libpmix-dev # Slurm loads libpmix.so
if [ -z "$programs" ]; then
  need_packages "${build_packages[@]}"
  build release skel-raytrace skel-search skel-run
  programs=$PWD/build/release/bin
fi
source=$PWD
work=$(mktemp -d)
daemons=()
clean_up() {
  local status=$? pid
  if ((status != 0)); then tail -n 20 "$work"/*.log "$work"/*.out >&2 || true; fi
  if ((${#daemons[@]} > 0)); then scancel --user=root 2>/dev/null || true; fi
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap clean_up EXIT
chmod 755 "$work" # munge refuses folders that others may write to
cd "$work"

say "Starting Slurm"
# Only ports of loopback, and none that a Slurm of this machine would use.
cat >slurm.conf <<CONF
ClusterName=skel
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=$(uname -n) NodeAddr=127.0.0.1 CPUs=4
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE
CONF
printf '%s\n' "CgroupPlugin=cgroup/v1" "CgroupMountpoint=$work/cgroup" >cgroup.conf # unused, but slurmd wants one
export SLURM_CONF=$work/slurm.conf
mkdir state spool cgroup
head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
started() { # started NAME COMMAND...: a daemon in the foreground, whose process clean_up ends
  "${@:2}" >"$1.log" 2>&1 &
  daemons+=($!)
}
until_true() { # until_true SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    ((SECONDS < end)) || fail "not within $1 s: ${*:2}"
    sleep 0.2
  done
}
started munged munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
  --pid-file="$work/munged.pid" --seed-file="$work/munged.seed" --log-file="$work/munged.log"
until_true 10 test -S munge.socket
started slurmctld slurmctld -D -c
started slurmd slurmd -D
is_idle() { [ "$(sinfo --noheader --format=%t)" = idle ]; }
until_true 30 is_idle

picture=(--scene balls:4 --size 600x600 --progress never --threads 1)
export PATH=$programs:$PATH
skel-raytrace "${picture[@]}" -o expected.ppm
ranks_in() { grep -o '"ranks": [0-9]*' "$1"; }

say "srun --mpi=pmix, three ranks"
srun --mpi=pmix -n 3 skel-raytrace "${picture[@]}" --report srun.json -o srun.ppm
cmp expected.ppm srun.ppm
[ "$(ranks_in srun.json)" = '"ranks": 3' ]

say "srun without PMIx: Open MPI refuses"
if srun --mpi=none -n 2 skel-raytrace "${picture[@]}" -o none.ppm >none.out 2>&1; then fail "srun --mpi=none ended with 0"; fi
grep -q "application appears to have been direct launched using \"srun\"" none.out
[ ! -e none.ppm ]

# kill_rank JOB RANK: kills this rank of the job.
kill_rank() {
  local victim=
  find_rank() {
    local pid variables
    for pid in $(pgrep -x skel-raytrace; pgrep -x skel-search); do
      variables=$(tr '\0' '\n' <"/proc/$pid/environ") || continue
      if grep -qx "SLURM_JOB_ID=$1" <<<"$variables" && grep -qx "PMIX_RANK=$2" <<<"$variables"; then victim=$pid; fi
    done
    [ -n "$victim" ]
  }
  until_true 30 find_rank "$@"
  kill -KILL "$victim"
}

large=(--scene balls:5 --size 2000x2000 --progress never --threads 1)
skel-raytrace "${large[@]}" -o expected.ppm
job_of_salloc() { job=$(squeue --noheader --format=%A) && [ -n "$job" ]; }
no_job() { [ -z "$(squeue --noheader)" ]; }
for victim in 2 0; do
  say "skel-mpiexec in an allocation: rank $victim is killed"
  rm -f killed.* preview.ppm
  salloc -n 3 "$source/scripts/skel-mpiexec" -n 3 skel-raytrace "${large[@]}" --preview preview.ppm --report killed.json \
    -o killed.ppm >killed.out 2>&1 &
  salloc=$!
  until_true 30 job_of_salloc
  until_true 60 test -e preview.ppm
  kill_rank "$job" $victim
  wait $salloc
  cat killed.out
  cmp expected.ppm killed.ppm
  if [ $victim = 0 ]; then grep -q '"attempt": 2' killed.json; else grep -q '"tasks_handed_out_again"' killed.json; fi
  until_true 30 no_job
done

say "run.sbatch: SIGUSR1 before the time limit"
submit() { # submit SCRIPT [option of sbatch...] -- COMMAND...: its output goes to SCRIPT.out; prints the job's number
  local script=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  sbatch --parsable --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --output="$work/$script.out" "${options[@]}" \
    "$source/packaging/slurm/$script.sbatch" "${@:2}"
}
field() { scontrol show job "$1" | grep -o "\b$2=[^ ]*"; } # field JOB NAME
is_over() { [[ $(field "$1" JobState) =~ =(COMPLETED|FAILED|TIMEOUT|CANCELLED) ]]; }
# Slurm's shortest limit is a minute, and it looks twice a minute: the signal comes 10 to 40 s after the start. The
# search would take hours.
job=$(submit run --time=1 --signal=USR1@50 -- skel-search --queens 22 --progress never)
until_true 120 is_over "$job"
grep SIGUSR1 run.out
field "$job" JobState | grep FAILED # not TIMEOUT
field "$job" ExitCode | grep -x ExitCode=1:0

# resumes NAME COMMAND...: COMMAND interrupts the job, whose number follows, once it has saved work.
resumes() {
  local name=$1 job report=$work/$1.json
  has_checkpoint() { [ -n "$(find "skel-store-$job" -name '*-of-*' -print -quit 2>/dev/null)" ]; }
  rm -f resume.out # which every job adds to
  job=$(submit resume --time=10 -- skel-search --tree T1L --threads 1 --every 1s --progress never --report "$report" -o "$name.txt")
  until_true 60 has_checkpoint
  "${@:2}" "$job"
  until_true 300 is_over "$job"
  cat resume.out
  field "$job" JobState | grep COMPLETED
  field "$job" Restarts | grep -x Restarts=1
  grep -o '"restored_[a-z]*": [1-9][0-9]*' "$report"
  grep -q '^102181082 nodes' "$name.txt" # as published with the benchmark
}
say "resume.sbatch: warned, saved, queued again, resumed"
resumes warned scancel --batch --signal=USR1
say "resume.sbatch: requeued, as after the loss of a node, and resumed"
resumes requeued scontrol requeue
say "resume.sbatch: a rank is killed, which ends srun, and the job is queued again and resumed"
kill_rank_1() { sleep 1 && kill_rank "$1" 1; }
resumes killed kill_rank_1
say "resume.sbatch: commands that could not end in time run in the next job"
# A job of 5 minutes ends 30 s early, so commands that are said to take 250 s begin in its first 20 s only: on two ranks,
# those of 6 s at most eight times.
seq 0 11 | sed 's/.*/sleep 6; echo & >>ended/' >list
rm -f ended resume.out
job=$(submit resume --time=5 -- skel-run --threads 1 --task-time 250s --progress never --report needs.json -o table.csv list)
until_true 900 is_over "$job"
cat resume.out
grep -q 'tasks\? not started, since they could not end before the time limit.*continue with --resume' resume.out
field "$job" JobState | grep COMPLETED
[ "$(sort -n ended | xargs)" = "$(seq 0 11 | xargs)" ]
[ "$(grep -c ',ok,' table.csv)" = 12 ]
say "All passed"

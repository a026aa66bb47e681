// Everything a user of skel needs.
#pragma once

#include "skel/broadcast.hpp"
#include "skel/bsp.hpp"
#include "skel/context.hpp"
#include "skel/divide_and_conquer.hpp"
#include "skel/error.hpp"
#include "skel/farm.hpp"
#include "skel/immutable.hpp"
#include "skel/multi_host.hpp"
#include "skel/report.hpp"
#include "skel/ring_steal.hpp"
#include "skel/run_main.hpp"
#include "skel/schedule.hpp"
#include "skel/sink.hpp"
#include "skel/source.hpp"
#include "skel/transfer.hpp"
#include "skel/worker.hpp"

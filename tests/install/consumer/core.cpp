// Uses skel::core alone, which needs no MPI: a schedule from its name, as on a command line.
#include <skel/schedule.hpp>

int main() { return skel::any_schedule("guided:min=4").to_string() == "guided:min=4" ? 0 : 1; }

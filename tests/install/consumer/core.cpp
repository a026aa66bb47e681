// Uses only skel::core, which needs no MPI: parses the name of a schedule.
#include <skel/schedule.hpp>

int main() { return skel::any_schedule("guided:min=4").to_string() == "guided:min=4" ? 0 : 1; }

import os

from spack.package import *


class Skel(CMakePackage):
    """Parallel skeletons over MPI: farms, work stealing, divide and conquer, groups of hosts and
    supersteps, with the same bytes for every schedule and number of ranks, also when ranks die."""

    # The clone that this recipe lies in.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("BSL-1.0")

    version("main", branch="main")
    version("1.1.0", tag="v1.1.0")

    variant("shared", default=True, description="Shared libraries")
    variant("mpi", default=True, description="skel::mpi, the skeletons over MPI")
    variant("boost_mpi", default=True, when="+mpi", description="Communicators of Boost.MPI")
    variant("sim", default=False, description="skel::sim, simulated clusters")
    variant("sodium", default=True, description="Encrypted checkpoints")
    variant("otf2", default=False, description="Traces as OTF2 archives")
    variant("netcdf", default=True, when="+programs", description="Volumes in netCDF files")
    variant("hdf5", default=True, when="+programs", description="Volumes in HDF5 files")
    variant("openexr", default=True, when="+programs", description="Pictures in OpenEXR files")
    variant("programs", default=True, description="The programs")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build", when="+programs")
    depends_on("boost@1.74: +serialization")
    depends_on("xxhash")
    depends_on("fmt")
    depends_on("nlohmann-json@3.9:")
    depends_on("eigen@3.4:")
    depends_on("libsodium@1.0.18:", when="+sodium")
    depends_on("otf2@3:", when="+otf2")
    depends_on("simgrid@3.32:", when="+sim")
    depends_on("mpi@3:", when="+mpi")
    depends_on("boost +mpi", when="+boost_mpi")
    with when("+programs"):
        depends_on("cli11")
        depends_on("expat")
        depends_on("libpng")
        depends_on("lz4")
        depends_on("nettle")
        depends_on("xz")
        depends_on("zlib-api")
    depends_on("netcdf-c", when="+netcdf")
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("openexr@3:", when="+openexr")

    conflicts("%gcc@:11", msg="skel needs C++20 as in GCC 12")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("SKEL_MPI", "mpi"),
            self.define_from_variant("SKEL_BOOST_MPI", "boost_mpi"),
            self.define_from_variant("SKEL_SIM", "sim"),
            self.define_from_variant("SKEL_SODIUM", "sodium"),
            self.define_from_variant("SKEL_OTF2", "otf2"),
            self.define_from_variant("SKEL_NETCDF", "netcdf"),
            self.define_from_variant("SKEL_HDF5", "hdf5"),
            self.define_from_variant("SKEL_OPENEXR", "openexr"),
            self.define_from_variant("SKEL_BUILD_EXAMPLES", "programs"),
            self.define("SKEL_BUILD_TESTS", False),
            self.define("SKEL_WERROR", False),
        ]

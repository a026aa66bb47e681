import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

EXPORTED = ["CMakeLists.txt", "LICENSE", "*.md", "cmake/*", "docs/*", "examples/*", "include/*", "packaging/*", "scripts/*", "src/*"]


class Skel(ConanFile):
    """The library, without the programs, of the clone that this recipe lies in: conan create packaging/conan"""

    name = "skel"
    version = "1.1.0"
    description = "Parallel skeletons over MPI"
    license = "BSL-1.0"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "mpi": [True, False], "boost_mpi": [True, False], "sodium": [True, False]}
    default_options = {"shared": False, "mpi": True, "boost_mpi": True, "sodium": True}

    def export_sources(self):
        top = os.path.join(self.recipe_folder, os.pardir, os.pardir)
        for part in EXPORTED:
            copy(self, part, top, self.export_sources_folder)

    def configure(self):
        if self.options.mpi and self.options.boost_mpi:
            self.options["boost"].without_mpi = False

    def requirements(self):
        # Users' code includes Boost; MPI is the system's.
        self.requires("boost/[>=1.74 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("xxhash/[>=0.8 <1]")
        self.requires("fmt/[>=9]")
        self.requires("nlohmann_json/[>=3.9 <4]")
        self.requires("eigen/[>=3.4 <4]")
        if self.options.sodium:
            self.requires("libsodium/[>=1.0.18 <2]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("mpi", "boost_mpi", "sodium"):
            toolchain.variables[f"SKEL_{name.upper()}"] = bool(self.options.get_safe(name))
        for name in ("SKEL_SIM", "SKEL_OTF2", "SKEL_BUILD_EXAMPLES", "SKEL_BUILD_TESTS", "SKEL_WERROR"):
            toolchain.variables[name] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # skelConfig.cmake is installed
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "skel")]

// The peer: the same shading, camera, counters and scenes over Embree 3 with its built-in triangles and
// spheres, on one thread: its single-ray calls (rtcIntersect1, rtcOccluded1), or its packets of sixteen
// (rtcIntersect16, rtcOccluded16) with the flag for coherent rays.
#include <embree3/rtcore.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "image.hpp"
#include "measure.hpp"
#include "ray_sets.hpp"

using namespace raytrace;

namespace {

#include "shading.inl"

class embree_scene {
 public:
  explicit embree_scene(geometry const& shapes)
      : device_(rtcNewDevice("threads=1,set_affinity=0")), scene_(rtcNewScene(device_)) {
    if (!shapes.frusta.empty()) throw std::runtime_error("cones are not supported by this peer");
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_MEDIUM);
    add_triangles(shapes);
    add_balls(shapes);
    rtcCommitScene(scene_);
  }
  ~embree_scene() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  embree_scene(embree_scene const&) = delete;
  embree_scene& operator=(embree_scene const&) = delete;

  void closest_alone(ray const* rays, int n, hit* hits) const {
    auto context = context_of(RTC_INTERSECT_CONTEXT_FLAG_NONE);
    for (int i = 0; i < n; ++i) {
      RTCRayHit query;
      fill(query.ray, rays[i], farthest_);
      query.hit.geomID = query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
      rtcIntersect1(scene_, &context, &query);
      hits[i] = {};
      if (query.hit.geomID != RTC_INVALID_GEOMETRY_ID)
        hits[i] = {query.ray.tfar, ids_[query.hit.geomID][query.hit.primID]};
    }
  }

  unsigned occluded_alone(ray const* rays, float const* distance, int n) const {
    auto context = context_of(RTC_INTERSECT_CONTEXT_FLAG_NONE);
    unsigned hidden = 0;
    for (int i = 0; i < n; ++i) {
      RTCRay query;
      fill(query, rays[i], distance[i]);
      rtcOccluded1(scene_, &context, &query);
      hidden |= query.tfar < 0 ? 1U << i : 0;
    }
    return hidden;
  }

  void closest_together(ray const* rays, int n, hit* hits) const {
    auto context = context_of(RTC_INTERSECT_CONTEXT_FLAG_COHERENT);
    alignas(64) int valid[packet];
    RTCRayHit16 query;
    for (int i = 0; i < packet; ++i) {
      valid[i] = i < n ? -1 : 0;
      if (i < n) fill(query.ray, i, rays[i], farthest_);
      query.hit.geomID[i] = query.hit.instID[0][i] = RTC_INVALID_GEOMETRY_ID;
    }
    rtcIntersect16(valid, scene_, &context, &query);
    for (int i = 0; i < n; ++i) {
      hits[i] = {};
      if (query.hit.geomID[i] != RTC_INVALID_GEOMETRY_ID)
        hits[i] = {query.ray.tfar[i], ids_[query.hit.geomID[i]][query.hit.primID[i]]};
    }
  }

  unsigned occluded_together(ray const* rays, float const* distance, int n) const {
    auto context = context_of(RTC_INTERSECT_CONTEXT_FLAG_COHERENT);
    alignas(64) int valid[packet];
    RTCRay16 query;
    for (int i = 0; i < packet; ++i) {
      valid[i] = i < n ? -1 : 0;
      if (i < n) fill(query, i, rays[i], distance[i]);
    }
    rtcOccluded16(valid, scene_, &context, &query);
    unsigned hidden = 0;
    for (int i = 0; i < n; ++i) hidden |= query.tfar[i] < 0 ? 1U << i : 0;
    return hidden;
  }

 private:
  static RTCIntersectContext context_of(RTCIntersectContextFlags flags) {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = flags;
    return context;
  }

  static void fill(RTCRay16& query, int i, ray const& r, float limit) {
    query.org_x[i] = r.origin.x;
    query.org_y[i] = r.origin.y;
    query.org_z[i] = r.origin.z;
    query.dir_x[i] = r.direction.x;
    query.dir_y[i] = r.direction.y;
    query.dir_z[i] = r.direction.z;
    query.tnear[i] = 0;
    query.tfar[i] = limit;
    query.time[i] = 0;
    query.mask[i] = ~0U;
    query.id[i] = 0;
    query.flags[i] = 0;
  }

  static void fill(RTCRay& query, ray const& r, float limit) {
    query.org_x = r.origin.x;
    query.org_y = r.origin.y;
    query.org_z = r.origin.z;
    query.dir_x = r.direction.x;
    query.dir_y = r.direction.y;
    query.dir_z = r.direction.z;
    query.tnear = 0;
    query.tfar = limit;
    query.time = 0;
    query.mask = ~0U;
    query.id = 0;
    query.flags = 0;
  }

  void attach(RTCGeometry geometry, std::vector<std::uint32_t> const& ids) {
    rtcCommitGeometry(geometry);
    auto const number = rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
    ids_.resize(std::max<std::size_t>(ids_.size(), number + 1));
    ids_[number] = ids;
  }

  void add_triangles(geometry const& shapes) {
    if (shapes.facets.empty()) return;
    auto* const mesh = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* const vertices = static_cast<float*>(rtcSetNewGeometryBuffer(
        mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), shapes.hull_points.size()));
    for (std::size_t i = 0; i < shapes.hull_points.size(); ++i) {
      vertices[3 * i] = shapes.hull_points[i].x;
      vertices[3 * i + 1] = shapes.hull_points[i].y;
      vertices[3 * i + 2] = shapes.hull_points[i].z;
    }
    auto* const indices = static_cast<unsigned*>(rtcSetNewGeometryBuffer(
        mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), shapes.facets.size()));
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < shapes.facets.size(); ++i) {
      for (unsigned k = 0; k < 3; ++k) indices[3 * i + k] = shapes.hull_first[i] + k;
      ids.push_back(shapes.facets[i].id);
    }
    attach(mesh, ids);
  }

  void add_balls(geometry const& shapes) {
    if (shapes.balls.empty()) return;
    auto* const points = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    auto* const data = static_cast<float*>(rtcSetNewGeometryBuffer(
        points, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, 4 * sizeof(float), shapes.balls.size()));
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < shapes.balls.size(); ++i) {
      auto const& b = shapes.balls[i];
      data[4 * i] = b.center.x;
      data[4 * i + 1] = b.center.y;
      data[4 * i + 2] = b.center.z;
      data[4 * i + 3] = b.radius;
      ids.push_back(b.id);
    }
    attach(points, ids);
  }

  static constexpr float farthest_ = 3.402823466e+38F;
  RTCDevice device_;
  RTCScene scene_;
  std::vector<std::vector<std::uint32_t>> ids_;
};

struct singly {
  embree_scene const& in;

  void closest(ray const* rays, int n, hit* hits) const { in.closest_alone(rays, n, hits); }
  unsigned occluded(ray const* rays, float const* distance, int n, unsigned) const {
    return in.occluded_alone(rays, distance, n);
  }
};

struct in_packets {
  embree_scene const& in;

  void closest(ray const* rays, int n, hit* hits) const { in.closest_together(rays, n, hits); }
  unsigned occluded(ray const* rays, float const* distance, int n, unsigned) const {
    return in.occluded_together(rays, distance, n);
  }
};

// Rays without shading. Incoherent ones are traced singly.
struct many {
  embree_scene const& in;
  bool packets;

  void closest(std::span<ray const> rays, std::span<hit> hits, bool alike) const {
    for (std::size_t i = 0; i < rays.size(); i += packet) {
      int const n = static_cast<int>(std::min<std::size_t>(packet, rays.size() - i));
      packets&& alike ? in.closest_together(&rays[i], n, &hits[i]) : in.closest_alone(&rays[i], n, &hits[i]);
    }
  }
  void occluded(std::span<ray const> rays, std::span<float const> distances, std::span<bool> hidden) const {
    for (std::size_t i = 0; i < rays.size(); i += packet) {
      int const n = static_cast<int>(std::min<std::size_t>(packet, rays.size() - i));
      unsigned const found = packets ? in.occluded_together(&rays[i], &distances[i], n)
                                     : in.occluded_alone(&rays[i], &distances[i], n);
      for (int k = 0; k < n; ++k) hidden[i + static_cast<std::size_t>(k)] = (found >> k & 1) != 0;
    }
  }
};

template <class Tracer>
ray_counts render(world_view const& world, Tracer tracer, picture::image& picture) {
  whitted<Tracer> shader(world, tracer);
  shader.render(0, 0, picture.width, picture.height, picture.rgb.data());
  return shader.counts();
}

world_view view_of(geometry const& g, camera const& eye, int depth) {
  return {g.facets.data(),
          g.balls.data(),
          g.frusta.data(),
          g.surfaces.data(),
          g.volumes.data(),
          g.patches.data(),
          g.materials.data(),
          g.lights.data(),
          static_cast<std::uint32_t>(g.lights.size()),
          depth,
          g.background,
          eye};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: %s SCENE [REPETITIONS] [IMAGE] [DEPTH] [single | packets]\n"
                 "       %s rays SCENE [REPETITIONS] [single | packets]\n",
                 argv[0], argv[0]);
    return 2;
  }
#if defined(__SSE2__)                 // as its manual advises
  _mm_setcsr(_mm_getcsr() | 0x8040);  // denormals are zero, in and out
#endif
  bool const packets = std::string_view(argv[argc - 1]) == "packets";
  if (argc > 2 && std::string_view(argv[1]) == "rays") {
    auto const world = named_scene(argv[2]);
    embree_scene const tracer(prepare(world, true));
    ray_sets(world, many{tracer, packets})
        .measure(packets ? "embree-packets" : "embree", argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
    return 0;
  }
  auto const scene_value = named_scene(argv[1]);
  int const repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  int const depth = argc > 4 ? std::atoi(argv[4]) : 5;
  picture::image picture(512, 512);
  for (int i = 0; i < repetitions; ++i) {
    stopwatch const building;
    auto const shapes = prepare(scene_value, true);
    embree_scene const tracer(shapes);
    double const build = building.seconds();
    auto const world = view_of(shapes, make_camera(scene_value.view, picture.width, picture.height), depth);
    stopwatch const rendering;
    auto const counts =
        packets ? render(world, in_packets{tracer}, picture) : render(world, singly{tracer}, picture);
    print_measurement("embree", argv[1], build, building, rendering, counts);
  }
  if (argc > 3 && argv[3][0] != '\0') write_image(argv[3], picture);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}

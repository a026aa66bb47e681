// The peer: the same shading, camera, counters and scenes over Embree 3's single-ray calls
// (rtcIntersect1, rtcOccluded1) with its built-in triangles and spheres, on one thread.
#include <embree3/rtcore.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "image.hpp"
#include "measure.hpp"

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

  hit closest(ray const& r) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit query;
    fill(query.ray, r, farthest_);
    query.hit.geomID = query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene_, &context, &query);
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return {};
    return {query.ray.tfar, ids_[query.hit.geomID][query.hit.primID]};
  }

  bool occluded(ray const& r, float distance, unsigned) const {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRay query;
    fill(query, r, distance);
    rtcOccluded1(scene_, &context, &query);
    return query.tfar < 0;
  }

 private:
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
    std::fprintf(stderr, "usage: %s SCENE [REPETITIONS] [IMAGE]\n", argv[0]);
    return 2;
  }
  auto const scene_value = named_scene(argv[1]);
  int const repetitions = argc > 2 ? std::atoi(argv[2]) : 1;
  picture::image picture(512, 512);
  for (int i = 0; i < repetitions; ++i) {
    stopwatch const building;
    auto const shapes = prepare(scene_value, true);
    embree_scene tracer(shapes);
    double const build = building.seconds();
    auto const world = view_of(shapes, make_camera(scene_value.view, picture.width, picture.height), 5);
    stopwatch const rendering;
    whitted<embree_scene> shader(world, tracer);
    float* out = picture.rgb.data();
    for (int y = 0; y < picture.height; ++y) {
      for (int x = 0; x < picture.width; ++x) {
        vec3f const color = shader.primary(world.camera.through(x, y));
        *out++ = color.x;
        *out++ = color.y;
        *out++ = color.z;
      }
    }
    print_measurement("embree", argv[1], build, rendering.seconds(), building.cpu_seconds(), shader.counts());
  }
  if (argc > 3) write_image(argv[3], picture);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
  return 2;
}

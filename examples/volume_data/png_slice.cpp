#include "png_slice.hpp"

#include <fmt/format.h>
#include <png.h>

#include <bit>
#include <csetjmp>
#include <vector>

#include "skel/error.hpp"

namespace volume_data {

// libpng leaves its functions by longjmp, so their callers here have no destructors to skip, and
// errors are stored in `problem`.
struct png_slice::decoder {
  explicit decoder(std::string const& path) : file(file_bytes(path)), longest(file->most()) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) file->fail("libpng: out of memory");
    png_set_read_fn(png, this, on_read);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  }
  ~decoder() { png_destroy_read_struct(&png, &info, nullptr); }
  decoder(decoder const&) = delete;
  decoder& operator=(decoder const&) = delete;

  static void on_error(png_structp png, png_const_charp text) {
    static_cast<decoder*>(png_get_error_ptr(png))->problem = text;
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp /*png*/, png_const_charp /*text*/) {}
  static void on_read(png_structp png, png_bytep to, png_size_t size) {
    auto* const self = static_cast<decoder*>(png_get_io_ptr(png));
    bool whole = false;
    try {
      whole = self->file->read({reinterpret_cast<std::byte*>(to), size}) == size;
    } catch (std::exception const& e) {
      self->problem = e.what();
    }
    if (!whole) png_error(png, "the data end here, too early");
  }

  bool read_header() {
    if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp): required by libpng
    png_read_info(png, info);
    return true;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp)
    if (png_get_bit_depth(png, info) < 8) png_set_packing(png);
    if (std::endian::native == std::endian::little) png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    png_read_image(png, rows);
    png_read_end(png, nullptr);
    return true;
  }

  source file;
  std::uint64_t longest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string problem;
};

png_slice::png_slice(std::string const& path) : decoder_(std::make_unique<decoder>(path)) {
  if (!decoder_->read_header()) fail(decoder_->problem);
  if (png_get_color_type(decoder_->png, decoder_->info) != PNG_COLOR_TYPE_GRAY)
    fail("expected a grey picture without colours, palette or opacity");
}
png_slice::~png_slice() = default;

std::size_t png_slice::width() const { return png_get_image_width(decoder_->png, decoder_->info); }
std::size_t png_slice::height() const { return png_get_image_height(decoder_->png, decoder_->info); }

scalar_type png_slice::type() const {
  return png_get_bit_depth(decoder_->png, decoder_->info) == 16 ? scalar_type::uint16 : scalar_type::uint8;
}

std::uint64_t png_slice::most() const {
  constexpr std::uint64_t deflate = 1032;  // bytes of one, and 8 pixels in a byte
  return decoder_->longest * deflate * 8;
}

void png_slice::fail(std::string const& text) const { decoder_->file->fail(text); }

void png_slice::read(std::span<std::byte> to) {
  auto const row = width() * size_of(type());
  if (to.size() != row * height()) throw skel::error(fmt::format("a picture of {} bytes", row * height()));
  std::vector<png_bytep> rows(height());
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = reinterpret_cast<png_bytep>(to.data() + y * row);
  if (!decoder_->read_rows(rows.data())) fail(decoder_->problem);
}

}  // namespace volume_data

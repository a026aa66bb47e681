#include "exr.hpp"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfOutputFile.h>

#include <algorithm>
#include <array>

namespace picture {

namespace {

class in_memory : public Imf::OStream {
 public:
  in_memory() : OStream("memory") {}
  void write(char const data[], int count) override {
    auto const size = static_cast<std::size_t>(count);
    bytes.resize(std::max(bytes.size(), at_ + size));
    std::copy_n(reinterpret_cast<std::byte const*>(data), size,
                bytes.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += size;
  }
  std::uint64_t tellp() override { return at_; }
  void seekp(std::uint64_t position) override { at_ = position; }

  std::vector<std::byte> bytes;

 private:
  std::size_t at_ = 0;
};

}  // namespace

bool has_exr() noexcept { return true; }

std::vector<std::byte> encode_exr(int width, int height, std::size_t channels,
                                  std::span<float const> pixels) {
  Imf::Header header(width, height);
  header.compression() = Imf::NO_COMPRESSION;  // the bytes do not depend on the version of zlib
  Imf::FrameBuffer frame;
  constexpr std::array names = {"R", "G", "B", "A"};
  for (std::size_t c = 0; c < channels; ++c) {
    header.channels().insert(names[c], Imf::Channel(Imf::FLOAT));
    auto* const first = const_cast<float*>(pixels.data() + c);  // only read
    frame.insert(names[c], Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(first), channels * sizeof(float),
                                      channels * sizeof(float) * static_cast<std::size_t>(width)));
  }
  in_memory out;
  {
    Imf::OutputFile file(out, header);  // its destructor completes the table of lines
    file.setFrameBuffer(frame);
    file.writePixels(height);
  }
  return std::move(out.bytes);
}

}  // namespace picture

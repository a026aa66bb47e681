#include "tools/run/messages.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace skel::commands {

namespace {

// Returns whether all bytes were transferred.
template <class Bytes, class Transfer>
bool all_of(Bytes* bytes, std::size_t size, Transfer const& transfer) {
  while (size > 0) {
    auto const n = transfer(bytes, size);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n < 0) continue;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// One byte and room for a descriptor.
struct descriptor_message {
  descriptor_message() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  descriptor_message(descriptor_message const&) = delete;
  descriptor_message& operator=(descriptor_message const&) = delete;

  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
};

}  // namespace

bool send_block(int socket, std::vector<std::byte> const& block) {
  std::uint64_t const size = block.size();
  std::vector<std::byte> message(sizeof size + block.size());  // in one piece: one switch of processes
  std::memcpy(message.data(), &size, sizeof size);
  if (size > 0) std::memcpy(message.data() + sizeof size, block.data(), size);
  return all_of(message.data(), message.size(),
                [&](std::byte const* at, std::size_t n) { return ::send(socket, at, n, MSG_NOSIGNAL); });
}

std::vector<std::byte> receive_block(int socket) {
  auto const receive = [&](std::byte* at, std::size_t n) { return ::read(socket, at, n); };
  std::array<std::byte, sizeof(std::uint64_t)> head{};
  if (!all_of(head.data(), head.size(), receive)) return {};
  std::uint64_t size = 0;
  std::memcpy(&size, head.data(), sizeof size);
  std::vector<std::byte> block(size);
  if (!all_of(block.data(), block.size(), receive)) return {};
  return block;
}

bool send_descriptor(int socket, int descriptor) {
  descriptor_message what;
  auto* const header = CMSG_FIRSTHDR(&what.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ssize_t n = 0;
  while ((n = ::sendmsg(socket, &what.message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return n == 1;
}

std::optional<int> receive_descriptor(int socket) {
  descriptor_message what;
  ssize_t n = 0;
  while ((n = ::recvmsg(socket, &what.message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (n != 1) return std::nullopt;
  auto const* const header = CMSG_FIRSTHDR(&what.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

}  // namespace skel::commands

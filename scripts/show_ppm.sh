# Shows a picture in the terminal: each character is two pixels, an upper half-block and its background.
# Sourced. Uses only od and awk, so pictures must be small.
# shellcheck shell=bash

# show_ppm FILE.ppm (binary, three bytes per pixel)
show_ppm() {
  od -An -v -tu1 -w1 "$1" | awk '
    # The header: P6, width, height and 255 as text, each followed by white space.
    fields < 4 {
      if ($1 <= 32) { if (text != "") { field[++fields] = text; text = "" } } else text = text sprintf("%c", $1)
      next
    }
    {
      pixel[bytes % 3] = $1
      if (++bytes % 3) next
      x = n % field[2]; y = int(n / field[2]); n++
      colour = pixel[0] ";" pixel[1] ";" pixel[2]
      if (y % 2 == 0) { above[x] = colour; next }
      printf "\033[38;2;%sm\033[48;2;%sm\342\226\200", above[x], colour
      if (x == field[2] - 1) print "\033[0m"
    }'
}

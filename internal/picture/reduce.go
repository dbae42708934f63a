package picture

import (
	"image"
	"image/color"
	stddraw "image/draw"

	"golang.org/x/image/draw"
)

// resize returns the picture upright with at most the given width, in front of the given ground: white for JPEG, which has
// no transparency, and transparent where it is kept.
// It first averages down by a whole factor and then scales smoothly: CatmullRom alone would take time and memory in
// proportion to the source, and rotating comes last because it is cheaper on a small picture.
func resize(src image.Image, width int, o rotation, ground color.Color) *image.RGBA {
	b := src.Bounds()
	w, h := fit(b.Dx(), b.Dy(), width, o)
	coarse := downsample(src, max(1, b.Dx()/w), ground)
	if coarse.Bounds().Dx() == w && coarse.Bounds().Dy() == h {
		return o.apply(coarse)
	}
	fine := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(fine, fine.Bounds(), coarse, coarse.Bounds(), draw.Src, nil)
	return o.apply(fine)
}

// fit returns the size before rotation, so that the rotated picture is at most width wide, at most twice as high, and
// never enlarged. Both results are at least 1, so that a picture of one line does not vanish.
func fit(w, h, width int, o rotation) (int, int) {
	if o.swaps() {
		w, h = h, w
	}
	tw, th := min(w, width), h
	if w > width {
		th = h * width / w
	}
	if th > 2*width {
		tw, th = w*2*width/h, 2*width
	}
	tw, th = max(1, tw), max(1, th)
	if o.swaps() {
		tw, th = th, tw
	}
	return tw, th
}

// downsample averages squares of k by k pixels. It processes strips of k lines, so that only the source and the result
// of a large picture are in memory. Incomplete squares at the edges are dropped.
func downsample(src image.Image, k int, ground color.Color) *image.RGBA {
	b := src.Bounds()
	k = min(k, b.Dx(), b.Dy())
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/k, b.Dy()/k))
	strip := image.NewRGBA(image.Rect(0, 0, b.Dx(), k))
	for y := range out.Rect.Dy() {
		// The ground first, since the strip still has the previous lines, which would show through transparent pixels.
		stddraw.Draw(strip, strip.Rect, image.NewUniform(ground), image.Point{}, stddraw.Src)
		stddraw.Draw(strip, strip.Rect, src, b.Min.Add(image.Pt(0, y*k)), stddraw.Over)
		row := out.Pix[y*out.Stride:]
		for x := range out.Rect.Dx() {
			mean(row[4*x:4*x+4], strip, x*k, k)
		}
	}
	return out
}

// mean writes the mean colour of a square at the top of a strip. The sums of the largest square, 40 million pixels of
// at most 255, fit in an int of 64 bits.
func mean(into []byte, strip *image.RGBA, x, k int) {
	var r, g, b, a int
	for y := range k {
		line := strip.Pix[y*strip.Stride+4*x:]
		for i := 0; i < 4*k; i += 4 {
			r, g, b, a = r+int(line[i]), g+int(line[i+1]), b+int(line[i+2]), a+int(line[i+3])
		}
	}
	n := k * k
	// The colours are premultiplied by alpha, so each channel has its own mean.
	for i, sum := range [4]int{r, g, b, a} {
		into[i] = byte((sum + n/2) / n) //nolint:gosec // a mean of bytes
	}
}

package picture

import (
	"image"
	"image/color"
	stddraw "image/draw"

	"golang.org/x/image/draw"
)

// reduced gives a picture of at most a width, upright, on white where it was transparent.
func reduced(src image.Image, width int, o turn) *image.RGBA {
	b := src.Bounds()
	w, h := fit(b.Dx(), b.Dy(), width, o)
	coarse := averaged(src, max(1, b.Dx()/w))
	if coarse.Bounds().Dx() == w && coarse.Bounds().Dy() == h {
		return o.apply(coarse)
	}
	fine := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(fine, fine.Bounds(), coarse, coarse.Bounds(), draw.Src, nil)
	return o.apply(fine)
}

// fit gives the size that a picture has before it is turned, so that it is at most so wide afterwards, at most twice as
// high, and not larger than it was.
func fit(w, h, width int, o turn) (int, int) {
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

// averaged gives the means of squares of k times k pixels. It works on strips of k lines, so that of a large picture
// nothing but the source and the result is in memory; what is left over at the edges is no whole square and is dropped.
func averaged(src image.Image, k int) *image.RGBA {
	b := src.Bounds()
	k = min(k, b.Dx(), b.Dy())
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/k, b.Dy()/k))
	strip := image.NewRGBA(image.Rect(0, 0, b.Dx(), k))
	for y := range out.Rect.Dy() {
		stddraw.Draw(strip, strip.Rect, image.NewUniform(color.White), image.Point{}, stddraw.Src)
		stddraw.Draw(strip, strip.Rect, src, b.Min.Add(image.Pt(0, y*k)), stddraw.Over)
		row := out.Pix[y*out.Stride:]
		for x := range out.Rect.Dx() {
			mean(row[4*x:4*x+4], strip, x*k, k)
		}
	}
	return out
}

// mean writes the mean of a square at the top of a strip.
func mean(into []byte, strip *image.RGBA, x, k int) {
	var r, g, b int
	for y := range k {
		line := strip.Pix[y*strip.Stride+4*x:]
		for i := 0; i < 4*k; i += 4 {
			r, g, b = r+int(line[i]), g+int(line[i+1]), b+int(line[i+2])
		}
	}
	n := k * k
	into[0], into[1], into[2], into[3] = byte((r+n/2)/n), byte((g+n/2)/n), byte((b+n/2)/n), 255 //nolint:gosec // means of bytes
}

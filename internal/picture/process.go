// Package picture converts uploads of cameras and scanners into small, upright JPEG files without metadata such as the
// location.
//
// Uploads are untrusted: a file of some kilobytes may claim to contain gigapixels. The header is checked first, and
// pictures above MaxPixels or MaxEdge are refused, and so are JPEG files with more passes than any program writes. One
// picture is decoded at a time, because each may need a few hundred megabytes for a second. A decoder's failure on a broken
// file is returned as an error to the client.
package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	stddraw "image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"comanda/internal/fault"
)

// MaxPixels is the limit of uploaded pictures: that of a telephone's camera. A decoded picture of 40 megapixels takes
// 60 to 160 MB, and 320 MB with 16 bits for each colour. A progressive JPEG takes up to 600 MB while it is decoded: four
// bytes for each sample of its three colours, and one in the picture.
const MaxPixels = 40_000_000

// maxProgressiveCMYK is the limit of progressive JPEG files with four colours. They take 24 bytes per pixel while they are
// decoded, so that this many pixels take as much as MaxPixels of three colours.
const maxProgressiveCMYK = 25_000_000

// MaxEdge is the limit of a picture's width and height. Scaling takes a hundred bytes for each pixel of a line, which
// MaxPixels does not bound. Panoramas of telephones have up to 16,384.
const MaxEdge = 20_000

// maxScans limits the passes in which a progressive JPEG is stored; cameras and programs write about ten. Each takes time
// for the whole picture, even without data.
const maxScans = 100

// Faults of uploaded pictures.
var (
	ErrUnreadable    = fault.New(fault.Invalid, "image_unreadable", "We could not read this image. Use JPEG, PNG or WebP.")
	ErrTooManyPixels = fault.Newf(fault.Invalid, "image_too_large", "An image has at most %d megapixels.", MaxPixels/1_000_000)
	ErrTooLong       = fault.Newf(fault.Invalid, "image_too_large", "An image has at most %d pixels on each side.", MaxEdge)
	errCMYK          = fault.Newf(fault.Invalid, "image_too_large",
		"A progressive CMYK image has at most %d megapixels. Save it as RGB.", maxProgressiveCMYK/1_000_000)
	errBusy = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", Detail: "Other pictures are being processed. Please try again.",
		RetryAfter: 2 * time.Second,
	}
)

// format is an accepted file format. Its functions take the whole file, because an upload is in memory already.
type format struct {
	magic  string // ? is any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	exif   func(raw []byte) []byte                    // returns the file's EXIF data; nil if none
	scans  func(raw []byte) (n int, progressive bool) // returns the number of passes; nil if there is only one
}

// formats are those of telephones and scanners.
var formats = []format{
	{"\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode, jpegExif, jpegScans},
	{"\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode, pngExif, nil},
	{"RIFF????WEBP", webp.DecodeConfig, webp.Decode, webpExif, nil},
}

// matches reports whether a file begins like this format. The content type of an upload is not used: browsers take it
// from the file's name. It reads no more than the first bytes, so it is safe on any file.
func (f format) matches(raw []byte) bool {
	if len(raw) < len(f.magic) {
		return false
	}
	for i := range len(f.magic) {
		if f.magic[i] != '?' && f.magic[i] != raw[i] {
			return false
		}
	}
	return true
}

// Processor processes pictures, one at a time, to bound memory.
type Processor struct{ busy chan struct{} }

// NewProcessor returns a Processor. Use one per process. Several would decode as many pictures at the same time, each
// with its own hundreds of megabytes.
func NewProcessor() *Processor { return &Processor{make(chan struct{}, 1)} }

// Size is a target width in pixels and a desired maximum size in bytes. Pictures are never enlarged, because that adds bytes
// and no detail, and are at most twice as high as wide, so that a panorama does not fill a menu.
type Size struct {
	Width int
	Bytes int
}

// Process decodes a picture, rotates it upright and returns it as JPEG in each size, and an id, which is a hash of the
// results, so that a picture's URL changes with its content and may be cached forever. The first size must be the largest;
// the others are made from it, which costs a fraction of scaling the original again. Process returns an error if ctx ends
// while it waits for other pictures.
func (p *Processor) Process(ctx context.Context, raw []byte, sizes ...Size) (id string, made [][]byte, err error) {
	if err := p.wait(ctx); err != nil {
		return "", nil, err
	}
	defer p.done()
	return process(raw, sizes)
}

// wait waits for the end of other pictures; done lets the next one begin.
func (p *Processor) wait(ctx context.Context) error {
	select {
	case p.busy <- struct{}{}:
		return nil
	// The request has a deadline, so a queue of uploads ends in refusals and not in waiting requests.
	case <-ctx.Done():
		return errBusy.Because(ctx.Err())
	}
}

func (p *Processor) done() { <-p.busy }

// decode checks and decodes a file. The picture becomes upright by the returned rotation.
func decode(raw []byte) (image.Image, rotation, error) {
	// check is called before decode, which allocates memory for all pixels that the header claims.
	f, err := check(raw)
	if err != nil {
		return nil, straight, err
	}
	src, err := f.decode(bytes.NewReader(raw))
	if err != nil {
		return nil, straight, ErrUnreadable.Because(err)
	}
	return src, orientation(f.exif(raw)), nil
}

// process makes all sizes of one picture. It is called by one goroutine at a time.
func process(raw []byte, sizes []Size) (string, [][]byte, error) {
	src, upright, err := decode(raw)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.New()
	made := make([][]byte, len(sizes))
	var from *image.RGBA
	for i, s := range sizes {
		if from == nil {
			from = resize(src, s.Width, upright, color.White)
		} else {
			from = resize(from, s.Width, straight, color.White)
		}
		if made[i], err = encode(from, s.Bytes); err != nil {
			return "", nil, ErrUnreadable.Because(err)
		}
		sum.Write(made[i]) // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), made, nil
}

// check validates the header of a file without decoding the picture. It returns the format of the first magic bytes
// that match; a file is not tried in a second one.
func check(raw []byte) (format, error) {
	for _, f := range formats {
		if !f.matches(raw) {
			continue
		}
		c, err := f.config(bytes.NewReader(raw))
		switch {
		case err != nil:
			return f, ErrUnreadable.Because(err)
		case c.Width < 1 || c.Height < 1:
			return f, ErrUnreadable
		case int64(c.Width)*int64(c.Height) > MaxPixels:
			return f, ErrTooManyPixels
		case max(c.Width, c.Height) > MaxEdge:
			return f, ErrTooLong
		case f.scans == nil:
			return f, nil
		}
		switch scans, progressive := f.scans(raw); {
		case scans > maxScans:
			return f, ErrUnreadable
		case progressive && c.ColorModel == color.CMYKModel && c.Width*c.Height > maxProgressiveCMYK:
			return f, errCMYK
		}
		return f, nil
	}
	return format{}, ErrUnreadable
}

// Dimensions returns the size of a file in an accepted format, in pixels.
func Dimensions(raw []byte) (width, height int, err error) {
	f, err := check(raw)
	if err != nil {
		return 0, 0, err
	}
	c, err := f.config(bytes.NewReader(raw))
	return c.Width, c.Height, err
}

// qualities are tried in order until the file is small enough. The last one is used in any case: artefacts are hardly
// visible in a picture with that much detail.
var qualities = []int{82, 74, 66, 58, 50, 42}

// encode returns a JPEG of at most limit bytes if a quality allows it. Each quality is a new encoding of the whole
// picture, so the list of qualities is short.
func encode(img image.Image, limit int) ([]byte, error) {
	var out bytes.Buffer
	for _, q := range qualities {
		out.Reset()
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: q}); err != nil {
			return nil, err
		}
		if out.Len() <= limit {
			break
		}
	}
	return out.Bytes(), nil
}

// resize returns the picture upright with at most the given width, in front of the given ground: white for JPEG, which
// has no transparency, and transparent where it is kept. It first averages down by a whole factor and then scales
// smoothly: CatmullRom alone would take time and memory in proportion to the source, and rotating comes last because
// it is cheaper on a small picture.
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
		// The strip is filled with the ground first: its previous lines would show through transparent pixels.
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

// LogoFiles is a logo as PNG files.
type LogoFiles struct {
	ID            string // a hash of the files
	Mark          []byte // at most as high as requested, and at most three times as wide; transparency is kept
	Width, Height int    // size of Mark
	Icons         [][]byte
}

// iconShare is the part of an icon's edge that the logo fills. Platforms that mask icons show only the inner 80 %.
const iconShare = 0.72

// ProcessLogo decodes a logo and returns it in the height of a page's header, and as icons: squares with a white ground,
// because home screens show transparent pixels black.
func (p *Processor) ProcessLogo(ctx context.Context, raw []byte, height int, icons ...int) (l LogoFiles, err error) {
	if err := p.wait(ctx); err != nil {
		return l, err
	}
	defer p.done()
	src, upright, err := decode(raw)
	if err != nil {
		return l, err
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	if upright.swaps() {
		w, h = h, w
	}
	mark := resize(src, min(3*height, widthFor(w, h, height)), upright, color.Transparent)
	l.Width, l.Height = mark.Rect.Dx(), mark.Rect.Dy()
	sum := sha256.New()
	if l.Mark, err = encodePNG(mark); err != nil {
		return l, err
	}
	sum.Write(l.Mark) // a hash never fails
	for _, edge := range icons {
		file, err := encodePNG(icon(src, upright, w, h, edge))
		if err != nil {
			return l, err
		}
		sum.Write(file)
		l.Icons = append(l.Icons, file)
	}
	l.ID = hex.EncodeToString(sum.Sum(nil)[:16])
	return l, nil
}

// icon draws a picture of w by h pixels into the middle of a white square.
func icon(src image.Image, upright rotation, w, h, edge int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, edge, edge))
	stddraw.Draw(out, out.Rect, image.White, image.Point{}, stddraw.Src)
	share := int(iconShare * float64(edge))
	tw, th := share, max(1, h*share/w)
	if h > w {
		tw, th = max(1, w*share/h), share
	}
	small := resize(src, max(tw, widthFor(w, h, th)), upright, color.Transparent)
	at := image.Rect((edge-tw)/2, (edge-th)/2, (edge-tw)/2+tw, (edge-th)/2+th)
	// The logo is scaled again only if it is smaller than its icon: resize never enlarges.
	draw.CatmullRom.Scale(out, at, small, small.Rect, draw.Over, nil)
	return out
}

// widthFor returns the width for which resize makes a picture of w by h pixels at most height high. It makes pictures that
// are higher than twice their width fit by the height.
func widthFor(w, h, height int) int { return max(1, height/2, w*height/h) }

func encodePNG(img image.Image) ([]byte, error) {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, img); err != nil {
		return nil, ErrUnreadable.Because(err)
	}
	return out.Bytes(), nil
}

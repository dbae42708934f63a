package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"time"

	"golang.org/x/image/webp"

	"comanda/internal/fault"
)

// Limits of uploaded pictures: those of a telephone's camera. A decoded picture of 40 megapixels takes 60 to 160 MB.
const (
	MaxBytes  = 8 << 20
	MaxPixels = 40_000_000
)

// Faults of uploaded pictures.
var (
	ErrUnreadable = fault.New(fault.Invalid, "image_unreadable", "We could not read this image. Use JPEG, PNG or WebP.")
	ErrPixels     = fault.Newf(fault.Invalid, "image_too_large", "An image has at most %d megapixels.", MaxPixels/1_000_000)
	errBusy       = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", Detail: "Other pictures are being processed. Please try again.",
		RetryAfter: 2 * time.Second,
	}
)

// format is an accepted file format. Its functions take the whole file, because an upload is in memory already.
type format struct {
	magic  string // ? is any byte
	config func(raw []byte) (image.Config, error)
	decode func(raw []byte) (image.Image, error)
	exif   func(raw []byte) []byte // returns the file's EXIF data; nil if none
}

// formats are those of telephones and scanners.
var formats = []format{
	{
		"\xff\xd8\xff",
		func(raw []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(raw)) }, jpegExif,
	},
	{
		"\x89PNG\r\n\x1a\n",
		func(raw []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return png.Decode(bytes.NewReader(raw)) }, pngExif,
	},
	{
		"RIFF????WEBP",
		func(raw []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(raw)) }, webpExif,
	},
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
	// Before decode, which allocates memory for all pixels that the header claims.
	f, err := check(raw)
	if err != nil {
		return nil, straight, err
	}
	src, err := f.decode(raw)
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
		c, err := f.config(raw)
		switch {
		case err != nil:
			return f, ErrUnreadable.Because(err)
		case c.Width < 1 || c.Height < 1:
			return f, ErrUnreadable
		case int64(c.Width)*int64(c.Height) > MaxPixels:
			return f, ErrPixels
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
	c, err := f.config(raw)
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

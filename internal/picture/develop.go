package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/jpeg"
	"image/png"
	"time"

	"golang.org/x/image/webp"

	"comanda/internal/fault"
)

// Limits of what is taken in.
const (
	MaxBytes  = 8 << 20
	MaxPixels = 40_000_000
)

// The faults of pictures.
var (
	ErrUnreadable = fault.New(fault.Invalid, "image_unreadable", "This is no JPEG, PNG or WebP image that can be read.")
	ErrPixels     = fault.Newf(fault.Invalid, "image_too_large", "An image has at most %d megapixels.", MaxPixels/1_000_000)
	errBusy       = &fault.Error{
		Kind: fault.Unavailable, Code: "overloaded", Detail: "Other images are being worked on. Please try again.",
		RetryAfter: 2 * time.Second,
	}
)

// format is a kind of file that is taken in.
type format struct {
	magic  string // ? is any byte
	config func(raw []byte) (image.Config, error)
	decode func(raw []byte) (image.Image, error)
	exif   func(raw []byte) []byte // what the file says about its taking; nil for nothing
}

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

func (f format) knows(raw []byte) bool {
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

// Darkroom makes pictures, one at a time.
type Darkroom struct{ light chan struct{} }

// NewDarkroom makes one; a process needs one only.
func NewDarkroom() *Darkroom { return &Darkroom{make(chan struct{}, 1)} }

// Size is a width to which a picture is brought, in pixels, and how many bytes it is to have if that can be helped.
// It is never made larger than it was, and at most twice as high as wide.
type Size struct {
	Width int
	Bytes int
}

// Develop decodes a picture, turns it upright and gives it as JPEG in each size, the smaller ones made of the largest,
// which stands first; and an id, which is a hash of what it gives. Who waits for others longer than ctx is refused.
func (d *Darkroom) Develop(ctx context.Context, raw []byte, sizes ...Size) (id string, made [][]byte, err error) {
	select {
	case d.light <- struct{}{}:
		defer func() { <-d.light }()
	case <-ctx.Done():
		return "", nil, errBusy.Because(ctx.Err())
	}
	return develop(raw, sizes)
}

func develop(raw []byte, sizes []Size) (string, [][]byte, error) {
	f, err := check(raw)
	if err != nil {
		return "", nil, err
	}
	src, err := f.decode(raw)
	if err != nil {
		return "", nil, ErrUnreadable.Because(err)
	}
	upright := orientation(f.exif(raw))
	sum := sha256.New()
	made := make([][]byte, len(sizes))
	var from *image.RGBA
	for i, s := range sizes {
		if from == nil {
			from = reduced(src, s.Width, upright)
		} else {
			from = reduced(from, s.Width, straight)
		}
		if made[i], err = encode(from, s.Bytes); err != nil {
			return "", nil, ErrUnreadable.Because(err)
		}
		sum.Write(made[i]) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), made, nil
}

// check reads what a file claims to be, without decoding it.
func check(raw []byte) (format, error) {
	for _, f := range formats {
		if !f.knows(raw) {
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

// qualities are tried one after the other until the file is small enough. The last is taken in any case: what is that
// busy in detail hides what is lost.
var qualities = []int{82, 74, 66, 58, 50, 42}

func encode(img image.Image, most int) ([]byte, error) {
	var out bytes.Buffer
	for _, q := range qualities {
		out.Reset()
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: q}); err != nil {
			return nil, err
		}
		if out.Len() <= most {
			break
		}
	}
	return out.Bytes(), nil
}

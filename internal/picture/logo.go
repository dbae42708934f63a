package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	stddraw "image/draw"
	"image/png"

	"golang.org/x/image/draw"
)

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

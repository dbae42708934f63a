package picture

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"testing"

	"comanda/internal/testenv"
)

// ring returns a red ring on a transparent ground.
func ring(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := h / 4; y < h*3/4; y++ {
		for x := w / 4; x < w*3/4; x++ {
			img.SetNRGBA(x, y, color.NRGBA{220, 0, 0, 255})
		}
	}
	return img
}

func asImage(t *testing.T, file []byte) image.Image {
	t.Helper()
	return testenv.Must(png.Decode(bytes.NewReader(file)))(t)
}

func TestProcessLogo(t *testing.T) {
	for _, c := range []struct{ w, h, width, height int }{
		{900, 900, 160, 160}, {1800, 600, 480, 160}, {4000, 400, 480, 48}, {300, 1200, 40, 160}, {20, 10, 20, 10},
	} {
		l := testenv.Must(NewProcessor().ProcessLogo(t.Context(), asPNG(t, ring(c.w, c.h)), 160, 192, 512))(t)
		mark := asImage(t, l.Mark)
		if l.Width != c.width || l.Height != c.height || mark.Bounds().Dx() != c.width || mark.Bounds().Dy() != c.height {
			t.Errorf("%dx%d: the mark has %dx%d, %v", c.w, c.h, l.Width, l.Height, mark.Bounds())
		}
		if _, _, _, a := mark.At(0, 0).RGBA(); a != 0 {
			t.Errorf("%dx%d: the ground is not transparent", c.w, c.h)
		}
		if r, g, _, a := mark.At(c.width/2, c.height/2).RGBA(); r < 0xc000 || g > 0x1000 || a < 0xf000 {
			t.Errorf("%dx%d: the middle is %v", c.w, c.h, mark.At(c.width/2, c.height/2))
		}
		for i, edge := range []int{192, 512} {
			icon := asImage(t, l.Icons[i])
			if icon.Bounds() != image.Rect(0, 0, edge, edge) {
				t.Errorf("an icon of %d has %v", edge, icon.Bounds())
			}
			if r, g, b, a := icon.At(1, 1).RGBA(); r&g&b&a != 0xffff {
				t.Errorf("an icon's ground is %v", icon.At(1, 1))
			}
			if r, g, _, _ := icon.At(edge/2, edge/2).RGBA(); r < 0xc000 || g > 0x1000 {
				t.Errorf("an icon's middle is %v", icon.At(edge/2, edge/2))
			}
		}
	}
}

func TestProcessLogo_refuses(t *testing.T) {
	p := NewProcessor()
	if _, err := p.ProcessLogo(t.Context(), []byte("<svg/>"), 160); !errors.Is(err, ErrUnreadable) {
		t.Errorf("SVG: error %v, want ErrUnreadable", err)
	}
	p.busy <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ProcessLogo(ctx, asPNG(t, ring(8, 8)), 160); !errors.Is(err, errBusy) {
		t.Errorf("while another is processed: error %v, want %v", err, errBusy)
	}
}

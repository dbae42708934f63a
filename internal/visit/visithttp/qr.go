package visithttp

import (
	"bytes"
	"fmt"
	"image/color"

	"github.com/boombuler/barcode/qr"
)

// quiet is the white around a code in modules, without which readers do not find it (ISO/IEC 18004, section 6.3.8).
const quiet = 4

// code is a QR code as squares.
type code struct {
	size  int // modules on a side, without the quiet zone
	black func(x, y int) bool
}

// newCode makes the smallest code that says a text. Level M stands a spot of sauce: 15 % of it may be lost.
func newCode(text string) (code, error) {
	b, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return code{}, fmt.Errorf("draw a code: %w", err)
	}
	return code{b.Bounds().Dx(), func(x, y int) bool {
		grey, _ := color.GrayModel.Convert(b.At(x, y)).(color.Gray)
		return grey.Y < 128
	}}, nil
}

// side is the code's width in modules with its quiet zone.
func (c code) side() int { return c.size + 2*quiet }

// path draws the black squares as an SVG path in units of a module, the quiet zone included: each run of a row is one
// rectangle, since gaps between single squares would show in print.
func (c code) path() string {
	var b bytes.Buffer
	for y := range c.size {
		for x := 0; x < c.size; x++ {
			run := 0
			for x+run < c.size && c.black(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+quiet, y+quiet, run, run)
				x += run
			}
		}
	}
	return b.String()
}

// svg is the code alone as an image, which keeps its shape at any size.
func (c code) svg() []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" width="60mm" height="60mm" `+
		`shape-rendering="crispEdges" role="img" aria-label="QR"><path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/>`+
		`<path d="%[2]s"/></svg>`+"\n", c.side(), c.path())
}

package visithttp

import (
	"bytes"
	"fmt"
	"image/color"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the white border of a QR code in modules, which readers need to find it (ISO/IEC 18004, section 6.3.8).
const quietZone = 4

// qrCode is a QR code as a grid of modules.
type qrCode struct {
	size  int // modules per side, without the quiet zone
	black func(x, y int) bool
}

// newQRCode returns the smallest QR code of a text. Level M restores 15 % of the modules, enough for a stain on the
// table.
func newQRCode(text string) (qrCode, error) {
	b, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return qrCode{}, fmt.Errorf("draw a code: %w", err)
	}
	return qrCode{b.Bounds().Dx(), func(x, y int) bool {
		grey, _ := color.GrayModel.Convert(b.At(x, y)).(color.Gray)
		return grey.Y < 128
	}}, nil
}

// side returns the width in modules, including the quiet zone.
func (c qrCode) side() int { return c.size + 2*quietZone }

// path returns the black modules as an SVG path in units of a module, offset by the quiet zone. Each run of a row is
// one rectangle, because gaps between single squares would show in print.
func (c qrCode) path() string {
	var b bytes.Buffer
	for y := range c.size {
		for x := 0; x < c.size; x++ {
			run := 0
			for x+run < c.size && c.black(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return b.String()
}

// svg returns the code as an SVG image.
func (c qrCode) svg() []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" width="60mm" height="60mm" `+
		`shape-rendering="crispEdges" role="img" aria-label="QR"><path fill="#fff" d="M0 0h%[1]dv%[1]dh-%[1]dz"/>`+
		`<path d="%[2]s"/></svg>`+"\n", c.side(), c.path())
}

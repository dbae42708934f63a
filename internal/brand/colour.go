package brand

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// The minimum contrasts of WCAG 2.2, level AA.
const (
	minText    = 4.5 // success criterion 1.4.3
	minControl = 3.0 // success criterion 1.4.11
)

// The colours of text on an accent colour, the preferred one first.
const (
	lightText = "#ffffff"
	darkText  = "#1a0f0a"
)

// The surfaces behind an accent, from web/shared/styles/tokens.css: paper, card and sunken.
var (
	lightSurfaces = []string{"#fbf6ee", "#fffdf9", "#f1e7d8"}
	darkSurfaces  = []string{"#17100c", "#231914", "#32241c"}
)

// Shades are the colours that a theme derives from an accent.
type Shades struct {
	Accent string // colour of buttons
	Deep   string // colour of buttons under the pointer
	Ink    string // colour of text and icons on a surface
	On     string // colour of text on Accent and Deep

	Moved   bool    // Accent differs from the chosen colour, which has too little contrast
	Text    float64 // contrast of On on Accent, at least 4.5
	Surface float64 // contrast of Accent on the least contrasting surface, at least 3
}

// Palette contains the colours of both themes.
type Palette struct{ Light, Dark Shades }

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// NewPalette derives the shades of a colour such as #a8321f. Colours that are too light or too dark for a theme are
// mixed with black or white until the contrasts suffice. It fails with ErrColour only for text that is not a colour.
func NewPalette(accent string) (Palette, error) {
	if !hexColour.MatchString(accent) {
		return Palette{}, ErrColour
	}
	c := parse(accent)
	return Palette{Light: shades(c, black, lightSurfaces), Dark: shades(c, white, darkSurfaces)}, nil
}

// shades derives a theme's colours. toward is the opposite of the theme's surfaces.
func shades(chosen, toward rgb, surfaces []string) Shades {
	accent := mixUntil(chosen, toward, func(c rgb) bool {
		return lowest(c, surfaces) >= minControl && contrast(c, parse(textOn(c))) >= minText
	})
	on := textOn(accent)
	// Deep is mixed away from the text colour, so that text on it stays readable.
	away := white
	if on == lightText {
		away = black
	}
	return Shades{
		Accent: accent.String(), Deep: mix(accent, away, 0.16).String(), On: on,
		Ink:     mixUntil(chosen, toward, func(c rgb) bool { return lowest(c, surfaces) >= minText }).String(),
		Moved:   accent != chosen,
		Text:    oneDigit(contrast(accent, parse(on))),
		Surface: oneDigit(lowest(accent, surfaces)),
	}
}

// textOn returns the text with enough contrast on a colour: white if it suffices, else near-black.
func textOn(c rgb) string {
	if contrast(c, parse(lightText)) >= minText {
		return lightText
	}
	return darkText
}

// mixUntil returns the first mixture with toward, in steps of 2 %, that good accepts. If none does, it returns toward
// itself, which has the largest possible contrast.
func mixUntil(c, toward rgb, good func(rgb) bool) rgb {
	const steps = 50
	for i := range steps {
		if m := mix(c, toward, float64(i)/steps); good(m) {
			return m
		}
	}
	return toward
}

type rgb [3]uint8

var black, white = rgb{}, rgb{255, 255, 255}

// String returns the colour as in CSS.
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// parse returns a colour that matches hexColour.
func parse(s string) rgb {
	n, _ := strconv.ParseUint(s[1:], 16, 32)
	return rgb{uint8(n >> 16), uint8(n >> 8), uint8(n)} //nolint:gosec // the bytes of a number
}

func mix(a, b rgb, share float64) rgb {
	var m rgb
	for i := range m {
		m[i] = uint8(math.Round(float64(a[i]) + (float64(b[i])-float64(a[i]))*share))
	}
	return m
}

// luminance returns the relative luminance as WCAG 2.2 defines it.
func (c rgb) luminance() float64 {
	weights, sum := [3]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, v := range c {
		s := float64(v) / 255
		if s <= 0.04045 {
			s /= 12.92
		} else {
			s = math.Pow((s+0.055)/1.055, 2.4)
		}
		sum += weights[i] * s
	}
	return sum
}

// contrast returns the contrast ratio, 1 to 21.
func contrast(a, b rgb) float64 {
	l, d := a.luminance(), b.luminance()
	if l < d {
		l, d = d, l
	}
	return (l + 0.05) / (d + 0.05)
}

// lowest returns the smallest contrast of a colour with surfaces.
func lowest(c rgb, surfaces []string) float64 {
	least := math.Inf(1)
	for _, s := range surfaces {
		least = min(least, contrast(c, parse(s)))
	}
	return least
}

// oneDigit rounds down, so that a contrast is never stated higher than it is.
func oneDigit(f float64) float64 { return math.Floor(f*10) / 10 }

// Style returns the style sheet that replaces the colours of web/shared/styles/tokens.css by the brand's; empty
// without a colour. It uses the selectors of that file and comes after it in the page, so it takes precedence.
func (b Brand) Style() string {
	p, ok := b.Palette()
	if !ok {
		return ""
	}
	dark := p.Dark.css()
	return ":root{" + p.Light.css() + "}" +
		"@media (prefers-color-scheme:dark){:root:not([data-theme='light']){" + dark + "}}" +
		":root[data-theme='dark']{" + dark + "}"
}

func (s Shades) css() string {
	return "--accent:" + s.Accent + ";--accent-deep:" + s.Deep + ";--accent-ink:" + s.Ink + ";--on-accent:" + s.On
}

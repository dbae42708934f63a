package brand

import (
	"fmt"
	"slices"
)

// Slot is the place of a picture in a brand.
type Slot string

// The slots.
const (
	Logo  Slot = "logo"
	Cover Slot = "cover"
)

func (s Slot) valid() bool { return slices.Contains([]Slot{Logo, Cover}, s) }

func (s Slot) set(b Brand, p *Picture) Brand {
	if s == Logo {
		b.Logo = p
	} else {
		b.Cover = p
	}
	return b
}

// Widths under which the pictures of a brand are stored, beside those of dishes. Each width belongs to one format.
const (
	LogoMark   = 160  // PNG with transparency, at most 160 pixels high and 480 wide
	IconSmall  = 192  // PNG, a square with a white ground
	IconLarge  = 512  // PNG, the same
	CoverSmall = 800  // JPEG
	CoverLarge = 1600 // JPEG
)

// Picture is a stored picture. Width and Height are those of its largest size (of a logo: the mark), so that pages can
// reserve its place.
type Picture struct {
	ID     string `json:"id"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// URL returns the URL of the picture in one of its widths.
func (p *Picture) URL(width int) string {
	if p == nil {
		return ""
	}
	format := "jpg"
	if width == LogoMark || width == IconSmall || width == IconLarge {
		format = "png"
	}
	return fmt.Sprintf("/media/%s-%d.%s", p.ID, width, format)
}

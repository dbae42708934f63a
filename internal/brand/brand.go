package brand

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/settings"
)

// Row is the name of the brand's row among the settings of the restaurant.
const Row = "brand"

// The limits of a brand's texts in characters.
const (
	MaxName    = 60
	MaxTitle   = 80
	MaxText    = 280
	MaxAddress = 200
	MaxPhone   = 30
)

// The faults of this package.
var (
	ErrColour = fault.New(fault.Invalid, "colour_invalid", "A colour must be # and six hexadecimal digits, such as #a8321f.")
	ErrSlot   = fault.New(fault.NotFound, "brand_picture_unknown", "The brand has no such picture.")
)

// Brand is the restaurant's brand. Everything may be empty; a slice or map of it is never changed in place.
type Brand struct {
	Name    string        `json:"name,omitempty"`
	Accent  string        `json:"accent,omitempty"` // such as #a8321f; empty keeps the colours of Comanda
	Logo    *Picture      `json:"logo,omitempty"`
	Cover   *Picture      `json:"cover,omitempty"`
	Title   catalog.Texts `json:"title,omitempty"` // title of the welcome page
	Text    catalog.Texts `json:"text,omitempty"`
	Address string        `json:"address,omitempty"`
	Phone   string        `json:"phone,omitempty"`
}

// Palette returns the colours of the brand; ok is false if it has none of its own.
func (b Brand) Palette() (p Palette, ok bool) {
	p, err := NewPalette(b.Accent)
	return p, err == nil
}

// check validates a brand. Texts were cleaned when they were decoded.
func (b Brand) check() error {
	if b.Accent != "" && !hexColour.MatchString(b.Accent) {
		return ErrColour
	}
	for _, f := range []struct {
		what, text string
		limit      int
	}{{"The name", b.Name, MaxName}, {"The address", b.Address, MaxAddress}, {"The phone number", b.Phone, MaxPhone}} {
		if utf8.RuneCountInString(f.text) > f.limit {
			return fault.Newf(fault.Invalid, "brand_text_too_long", "%s has at most %d characters.", f.what, f.limit)
		}
	}
	for _, f := range []struct {
		what  string
		texts catalog.Texts
		limit int
	}{{"The welcome title", b.Title, MaxTitle}, {"The welcome text", b.Text, MaxText}} {
		if len(f.texts) == 0 {
			continue
		}
		if err := f.texts.Check(f.what, f.limit); err != nil {
			return err
		}
	}
	return nil
}

// Change is a change of a brand. A nil field is not changed; an empty one is removed.
type Change struct {
	Name, Accent, Address, Phone *string
	Title, Text                  *catalog.Texts
}

func (c Change) apply(b Brand) Brand {
	for to, from := range map[*string]*string{
		&b.Name: c.Name, &b.Accent: c.Accent, &b.Address: c.Address, &b.Phone: c.Phone,
	} {
		if from != nil {
			*to = *from
		}
	}
	for to, from := range map[*catalog.Texts]*catalog.Texts{&b.Title: c.Title, &b.Text: c.Text} {
		if from != nil {
			*to = *from
		}
	}
	return b
}

// Parse returns the brand of a stored row; an empty one is the brand of a new installation.
func Parse(stored string) (b Brand, err error) {
	if stored == "" {
		return b, nil
	}
	if err := json.Unmarshal([]byte(stored), &b); err != nil {
		return b, fmt.Errorf("brand: %w", err)
	}
	return b, nil
}

// Service reads and changes the brand. It is safe for concurrent use.
type Service struct {
	Store  settings.Store
	Images catalog.ImageStore
	// Scale creates the sizes of an uploaded picture. It returns a fault if raw is not a picture.
	Scale func(ctx context.Context, slot Slot, raw []byte) (catalog.Image, Picture, error)
	// Changed is called after a commit, so that this process applies the change at once. Others poll.
	Changed func(ctx context.Context) error
	Now     func() time.Time
}

// Get returns the stored brand.
func (s *Service) Get(ctx context.Context) (Brand, error) {
	rows, err := s.Store.Rows(ctx)
	if err != nil {
		return Brand{}, err
	}
	return brandOf(rows)
}

func brandOf(rows []settings.Row) (Brand, error) {
	for _, r := range rows {
		if r.Name == Row {
			return Parse(r.Value)
		}
	}
	return Brand{}, nil
}

// Change changes texts and the colour, all or none.
func (s *Service) Change(ctx context.Context, by authz.Actor, c Change) (Brand, error) {
	return s.change(ctx, by, c.apply)
}

// SetPicture stores an uploaded picture as logo or cover.
func (s *Service) SetPicture(ctx context.Context, by authz.Actor, slot Slot, raw []byte) (Brand, error) {
	if !slot.valid() {
		return Brand{}, ErrSlot
	}
	image, p, err := s.Scale(ctx, slot, raw)
	if err != nil {
		return Brand{}, err
	}
	now := s.Now()
	// Before the brand names it, so that guests never get a brand whose picture is missing. Without the second
	// transaction it is an unused image, which a later upload deletes.
	if err := s.Images.AddImage(ctx, image, now, now.Add(-catalog.UnusedImageTTL)); err != nil {
		return Brand{}, err
	}
	return s.change(ctx, by, func(b Brand) Brand { return slot.set(b, &p) })
}

// RemovePicture removes the logo or the cover. It also succeeds if there is none.
func (s *Service) RemovePicture(ctx context.Context, by authz.Actor, slot Slot) (Brand, error) {
	if !slot.valid() {
		return Brand{}, ErrSlot
	}
	return s.change(ctx, by, func(b Brand) Brand { return slot.set(b, nil) })
}

// change applies a change to the stored brand within the transaction that writes it, so that two administrators who save
// at once do not undo each other's fields. It then refreshes this process's copy.
func (s *Service) change(ctx context.Context, by authz.Actor, apply func(Brand) Brand) (b Brand, err error) {
	now := s.Now()
	err = s.Store.Change(ctx, by, now, func(rows []settings.Row) ([]settings.Row, []string, error) {
		current, err := brandOf(rows)
		if err != nil {
			return nil, nil, err
		}
		b = apply(current)
		if err := b.check(); err != nil {
			return nil, nil, err
		}
		value, err := json.Marshal(b)
		return []settings.Row{{Name: Row, Value: string(value), At: now, By: by.String()}}, nil, err
	})
	if err != nil {
		return Brand{}, err
	}
	return b, s.Changed(ctx)
}

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

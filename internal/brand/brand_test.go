package brand_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"comanda/internal/authz"
	"comanda/internal/brand"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/fault"
	"comanda/internal/settings/settingssql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

const picture = "0123456789abcdef0123456789abcdef"

// service returns a brand on a database whose pictures need no decoder. changed counts the calls of Changed.
func service(db *sqldb.DB) (s *brand.Service, changed *int) {
	changed = new(int)
	return &brand.Service{
		Store: settingssql.New(db), Images: catalogsql.New(db, nil), Now: db.Now,
		Scale: func(_ context.Context, slot brand.Slot, raw []byte) (catalog.Image, brand.Picture, error) {
			if len(raw) == 0 {
				return catalog.Image{}, brand.Picture{}, errors.New("no picture")
			}
			width := map[brand.Slot]int{brand.Logo: brand.LogoMark, brand.Cover: brand.CoverLarge}[slot]
			return catalog.Image{ID: picture, Sizes: map[int][]byte{width: raw}}, brand.Picture{ID: picture, Width: 4, Height: 3}, nil
		},
		Changed: func(context.Context) error { *changed++; return nil },
	}, changed
}

func TestService(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, changed := service(db)
		if b, err := s.Get(t.Context()); err != nil || b.Name != "" || b.Logo != nil {
			t.Fatalf("a new house has %+v, %v", b, err)
		}
		by := authz.System()
		title := catalog.Texts{catalog.English: "Welcome", catalog.Vietnamese: "Xin chào"}
		testenv.Must(s.Change(t.Context(), by, brand.Change{Name: new("Quán Hoa"), Accent: new("#0b6e4f"), Title: &title}))(t)
		testenv.Must(s.Change(t.Context(), by, brand.Change{Phone: new("024 3825 0000")}))(t)
		testenv.Must(s.SetPicture(t.Context(), by, brand.Cover, []byte("jpeg")))(t)
		b, err := s.Get(t.Context())
		if err != nil || b.Name != "Quán Hoa" || b.Phone != "024 3825 0000" || b.Title[catalog.Vietnamese] != "Xin chào" ||
			b.Cover.URL(brand.CoverLarge) != "/media/"+picture+"-1600.jpg" || b.Logo.URL(brand.LogoMark) != "" {
			t.Errorf("Get = %+v, %v, want the brand of Quán Hoa with a cover and no logo", b, err)
		}
		if _, ok := b.Palette(); !ok {
			t.Error("the colour has no palette")
		}
		if b, err = s.Change(t.Context(), by, brand.Change{Name: new(""), Title: &catalog.Texts{}}); err != nil || b.Name != "" || len(b.Title) != 0 {
			t.Errorf("emptied: %+v, %v", b, err)
		}
		if b, err = s.RemovePicture(t.Context(), by, brand.Cover); err != nil || b.Cover != nil || b.Accent != "#0b6e4f" {
			t.Errorf("without a cover: %+v, %v", b, err)
		}
		testenv.Equal(t, 5, *changed)
	})
}

// A refused change stores nothing.
func TestService_refuses(t *testing.T) {
	db := sqldbtest.SQLite(t)
	s, changed := service(db)
	long := func(n int) *string { return new(strings.Repeat("ơ", n)) }
	for name, c := range map[string]struct {
		change brand.Change
		code   string
	}{
		"colour":  {brand.Change{Accent: new("red")}, "colour_invalid"},
		"name":    {brand.Change{Name: long(brand.MaxName + 1)}, "brand_text_too_long"},
		"address": {brand.Change{Address: long(brand.MaxAddress + 1)}, "brand_text_too_long"},
		"phone":   {brand.Change{Phone: long(brand.MaxPhone + 1)}, "brand_text_too_long"},
		"title":   {brand.Change{Title: &catalog.Texts{catalog.English: *long(brand.MaxTitle + 1)}}, "invalid"},
		"text":    {brand.Change{Text: &catalog.Texts{catalog.English: *long(brand.MaxText + 1)}}, "invalid"},
		"locale":  {brand.Change{Text: &catalog.Texts{"xx": "text"}}, "invalid"},
	} {
		c.change.Address = new("12 Hàng Bài")
		if name == "address" {
			c.change.Address = long(brand.MaxAddress + 1)
		}
		_, err := s.Change(t.Context(), authz.System(), c.change)
		if f := (*fault.Error)(nil); !errors.As(err, &f) || f.Code != c.code {
			t.Errorf("%s: error %v, want code %s", name, err, c.code)
		}
	}
	if _, err := s.SetPicture(t.Context(), authz.System(), "icon", []byte("png")); !errors.Is(err, brand.ErrSlot) {
		t.Errorf("an unknown slot: error %v, want ErrSlot", err)
	}
	if _, err := s.SetPicture(t.Context(), authz.System(), brand.Logo, nil); err == nil {
		t.Error("a broken picture was stored")
	}
	if b, err := s.Get(t.Context()); err != nil || b.Address != "" || b.Logo != nil || *changed != 0 {
		t.Errorf("stored %+v, %v", b, err)
	}
	// The limits themselves are accepted.
	if _, err := s.Change(t.Context(), authz.System(), brand.Change{
		Name: long(brand.MaxName), Address: long(brand.MaxAddress), Phone: long(brand.MaxPhone),
		Title: &catalog.Texts{catalog.English: *long(brand.MaxTitle)}, Text: &catalog.Texts{catalog.English: *long(brand.MaxText)},
	}); err != nil {
		t.Error(err)
	}
}

// An upload deletes unused images of dishes, but not the brand's.
func TestService_SetPicture_keeps_the_image(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, _ := service(db)
		images := catalogsql.New(db, nil)
		testenv.Must(s.SetPicture(t.Context(), authz.System(), brand.Logo, []byte("png")))(t)
		purge := func() bool {
			t.Helper()
			other := catalog.Image{ID: strings.Repeat("f", 32), Sizes: map[int][]byte{catalog.Thumb: []byte("x")}}
			now := db.Now().Add(48 * time.Hour)
			testenv.NoError(t, images.AddImage(t.Context(), other, now, now.Add(-catalog.UnusedImageTTL)))
			_, found := testenv.Must2(images.Image(t.Context(), picture, brand.LogoMark))(t)
			return found
		}
		if !purge() {
			t.Error("the logo was deleted")
		}
		testenv.Must(s.RemovePicture(t.Context(), authz.System(), brand.Logo))(t)
		if purge() {
			t.Error("a removed logo stays")
		}
	})
}

func TestParse(t *testing.T) {
	testenv.Equal(t, "", testenv.Must(brand.Parse(""))(t).Name)
	testenv.Equal(t, "Quán Hoa", testenv.Must(brand.Parse(`{"name":"Quán Hoa","later":1}`))(t).Name)
	if _, err := brand.Parse("{"); err == nil {
		t.Error("half a row was parsed")
	}
}

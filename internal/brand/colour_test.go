package brand

import (
	"errors"
	"os"
	"strings"
	"testing"

	"comanda/internal/testenv"
)

// The surfaces equal those of the guest app.
func TestColours_surfaces_equal_the_apps(t *testing.T) {
	css := testenv.Must(os.ReadFile("../../web/shared/styles/tokens.css"))(t)
	for i, name := range []string{"paper", "card", "sunken"} {
		want := "  --" + name + ": light-dark(" + lightSurfaces[i] + ", " + darkSurfaces[i] + ");"
		if strings.Count(string(css), want) != 1 {
			t.Errorf("tokens.css has not %s", want)
		}
	}
}

func TestNewPalette(t *testing.T) {
	for _, c := range []struct {
		accent      string
		light, dark Shades
	}{
		{"#a8321f",
			Shades{Accent: "#a8321f", Deep: "#8d2a1a", Ink: "#a8321f", On: "#ffffff", Text: 6.6, Surface: 5.4},
			Shades{Accent: "#b65343", Deep: "#994638", Ink: "#c77c70", On: "#ffffff", Moved: true, Text: 4.8, Surface: 3},
		},
		{"#ffe600",
			Shades{Accent: "#948500", Deep: "#a59929", Ink: "#706500", On: "#1a0f0a", Moved: true, Text: 5, Surface: 3},
			Shades{Accent: "#ffe600", Deep: "#ffea29", Ink: "#ffe600", On: "#1a0f0a", Text: 14.8, Surface: 11.7},
		},
		{"#0000ff",
			Shades{Accent: "#0000ff", Deep: "#0000d6", Ink: "#0000ff", On: "#ffffff", Text: 8.5, Surface: 7},
			Shades{Accent: "#5c5cff", Deep: "#4d4dd6", Ink: "#8080ff", On: "#ffffff", Moved: true, Text: 4.7, Surface: 3.1},
		},
		{"#000000",
			Shades{Accent: "#000000", Deep: "#000000", Ink: "#000000", On: "#ffffff", Text: 21, Surface: 17.1},
			Shades{Accent: "#707070", Deep: "#5e5e5e", Ink: "#8f8f8f", On: "#ffffff", Moved: true, Text: 4.9, Surface: 3},
		},
		{"#FFFFFF",
			Shades{Accent: "#858585", Deep: "#999999", Ink: "#666666", On: "#1a0f0a", Moved: true, Text: 5, Surface: 3},
			Shades{Accent: "#ffffff", Deep: "#ffffff", Ink: "#ffffff", On: "#1a0f0a", Text: 18.8, Surface: 14.9},
		},
		{"#777777",
			Shades{Accent: "#757575", Deep: "#626262", Ink: "#666666", On: "#ffffff", Moved: true, Text: 4.6, Surface: 3.7},
			Shades{Accent: "#7c7c7c", Deep: "#919191", Ink: "#8d8d8d", On: "#1a0f0a", Moved: true, Text: 4.5, Surface: 3.5},
		},
		{"#0b6e4f",
			Shades{Accent: "#0b6e4f", Deep: "#095c42", Ink: "#0b6e4f", On: "#ffffff", Text: 6.2, Surface: 5.1},
			Shades{Accent: "#287f64", Deep: "#226b54", Ink: "#549a84", On: "#ffffff", Moved: true, Text: 4.8, Surface: 3},
		},
	} {
		p := testenv.Must(NewPalette(c.accent))(t)
		if p.Light != c.light || p.Dark != c.dark {
			t.Errorf("NewPalette(%s):\nlight %+v\ndark  %+v\nwant\nlight %+v\ndark  %+v", c.accent, p.Light, p.Dark, c.light, c.dark)
		}
	}
	for _, s := range []string{"", "a8321f", "#a8321", "#a8321f0", "red", "#gggggg", "#a8321f\n"} {
		if _, err := NewPalette(s); !errors.Is(err, ErrColour) {
			t.Errorf("NewPalette(%q): error %v, want ErrColour", s, err)
		}
	}
}

// For every colour, in steps that cover all hues and lightnesses, each shade has the contrast that WCAG requires.
func TestNewPalette_contrast_of_every_colour(t *testing.T) {
	steps := []uint8{0, 36, 73, 109, 146, 182, 219, 255}
	for _, r := range steps {
		for _, g := range steps {
			for _, b := range steps {
				chosen := rgb{r, g, b}
				p := testenv.Must(NewPalette(chosen.String()))(t)
				for name, theme := range map[string]struct {
					Shades
					surfaces []string
				}{"light": {p.Light, lightSurfaces}, "dark": {p.Dark, darkSurfaces}} {
					accent, on := parse(theme.Accent), parse(theme.On)
					if contrast(accent, on) < 4.5 || contrast(parse(theme.Deep), on) < 4.5 || lowest(accent, theme.surfaces) < 3 ||
						lowest(parse(theme.Ink), theme.surfaces) < 4.5 || theme.Moved != (accent != chosen) ||
						theme.Text < 4.5 || theme.Surface < 3 {
						t.Fatalf("%v in %s: %+v", chosen, name, theme.Shades)
					}
				}
			}
		}
	}
}

// A style replaces the colours of tokens.css in its three themes, and is absent without a colour.
func TestBrand_Style(t *testing.T) {
	testenv.Equal(t, "", (Brand{}).Style())
	got := Brand{Accent: "#0b6e4f"}.Style()
	const dark = "--accent:#287f64;--accent-deep:#226b54;--accent-ink:#549a84;--on-accent:#ffffff"
	if !strings.HasPrefix(got, ":root{--accent:#0b6e4f;") || strings.Count(got, "{"+dark+"}") != 2 {
		t.Error(got)
	}
}

// Contrasts of examples in the specification.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.4}, {"#767676", "#ffffff", 4.5}, {"#ff0000", "#ffffff", 3.9}} {
		if got := oneDigit(contrast(parse(c.a), parse(c.b))); got != c.want {
			t.Errorf("%s on %s: %v", c.a, c.b, got)
		}
	}
}

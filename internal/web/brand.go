package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"strings"

	"comanda/internal/httpapi"
)

// PageBrand is the restaurant's brand in the form that pages contain. With the zero PageBrand a page keeps the app's
// own colours and icons.
type PageBrand struct {
	Name  string            `json:"name,omitempty"`
	Logo  *PagePicture      `json:"logo,omitempty"`
	Cover *PagePicture      `json:"cover,omitempty"`
	Title map[string]string `json:"title,omitempty"` // title of the welcome page, by locale
	Text  map[string]string `json:"text,omitempty"`

	Accent    string `json:"-"` // such as #a8321f
	Style     string `json:"-"` // the style sheet with the colours
	IconSmall string `json:"-"` // URL of a square PNG of 192 pixels
	IconLarge string `json:"-"` // the same of 512 pixels
}

// PagePicture is a picture with the size that pages reserve for it.
type PagePicture struct {
	URL    string `json:"url"`
	Large  string `json:"large,omitempty"` // for wide screens
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

const manifestPath = "/app/manifest.webmanifest"

// The elements of a page that applyTo replaces.
const (
	plainTitle = "<title>Menu</title>"
	plainIcon  = `<link rel="icon" href="/app/icon.svg" type="image/svg+xml">`
	plainTouch = `<link rel="apple-touch-icon" href="/app/icon-180.png">`
)

// applyTo writes title, icons and colours into a page. The colours are an inline style at the end of the head: a style
// sheet of its own would be another request before anything is shown, and a script would show the page in other colours
// first.
func (b PageBrand) applyTo(page []byte) []byte {
	for old, replacement := range map[string]string{
		plainTitle: b.tag("<title>%s</title>", b.Name),
		plainIcon:  b.tag(`<link rel="icon" href="%s" type="image/png">`, b.IconSmall),
		plainTouch: b.tag(`<link rel="apple-touch-icon" href="%s">`, b.IconSmall),
		"</head>":  b.styled(),
	} {
		if replacement != "" {
			page = bytes.Replace(page, []byte(old), []byte(replacement), 1)
		}
	}
	return page
}

// tag returns a tag with a value, or an empty string for an empty value.
func (PageBrand) tag(format, value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(format, html.EscapeString(value))
}

func (b PageBrand) styled() string {
	if b.Style == "" {
		return ""
	}
	return "<style>" + b.Style + "</style></head>"
}

// policy returns the content security policy of a page with the brand's colours.
func (b PageBrand) policy() string {
	if b.Style == "" {
		return contents
	}
	return strings.Replace(contents, "style-src 'self'", "style-src 'self' "+httpapi.SourceHash(b.Style), 1)
}

// newManifest returns the manifest with which phones install the guest app; nil if the build has none.
func (a *App) newManifest(b PageBrand) (*content, error) {
	text, err := fs.ReadFile(a.built, strings.TrimPrefix(manifestPath, "/"))
	if err != nil || b.Name == "" && b.Accent == "" && b.IconLarge == "" {
		return nil, nil //nolint:nilerr,nilnil // the file of the build is served, if there is one
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("web: %s: %w", manifestPath, err)
	}
	if b.Name != "" {
		m["name"], m["short_name"] = b.Name, b.Name
	}
	if b.Accent != "" {
		m["theme_color"] = b.Accent
	}
	if b.IconLarge != "" {
		m["icons"] = []map[string]string{
			{"src": b.IconSmall, "sizes": "192x192", "type": "image/png"},
			{"src": b.IconLarge, "sizes": "512x512", "type": "image/png"},
			{"src": b.IconLarge, "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
		}
	}
	if text, err = json.Marshal(m); err != nil {
		return nil, err
	}
	c := newContent(manifestPath, askAgain, text)
	c.zip()
	return c, nil
}

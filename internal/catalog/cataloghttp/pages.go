package cataloghttp

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
	"sync/atomic"

	"comanda/internal/catalog"
	"comanda/internal/httpapi"
)

// page is a live menu rendered in one locale. It is immutable.
type page struct {
	menu *catalog.LiveMenu
	body []byte
	etag string
	zip  func() []byte // the gzip body, compressed at the first call
}

func newPage(b *catalog.LiveMenu, l catalog.Locale, kinds []catalog.OrderKind) (*page, error) {
	body, err := render(b, l, kinds)
	if err != nil {
		return nil, err
	}
	p := &page{menu: b, body: body, etag: weak(httpapi.ETag(body))}
	p.zip = sync.OnceValue(func() []byte { return compress(body) })
	return p, nil
}

// weak returns a weak validator. A strong one would have to differ between the plain and the compressed body (RFC 9110,
// section 8.8.3.3).
func weak(etag string) string { return "W/" + etag }

// compress uses the default level; a page is compressed once and sent many times.
func compress(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // writes to a bytes.Buffer do not fail
	_ = w.Close()
	return b.Bytes()
}

// pages caches the last page per branch, locale and kinds of orders. A page is rendered again only if its live menu has
// changed, by one request at a time. The number of entries is bounded, because only existing branches and locales have
// pages.
type pages struct{ byKey sync.Map } // pageKey -> *pageSlot

type pageKey struct {
	branch int64
	locale catalog.Locale
	table  bool // for guests at a table
}

type pageSlot struct {
	page atomic.Pointer[page]
	mu   sync.Mutex // held while rendering
}

// of returns the page of a live menu. Menus are compared by pointer, because an unchanged menu keeps its pointer.
func (ps *pages) of(b *catalog.LiveMenu, l catalog.Locale, table bool) (*page, error) {
	kinds := toTakeAway
	if table {
		kinds = atTable
	}
	key := pageKey{b.Branch.ID, l, table}
	found, ok := ps.byKey.Load(key)
	if !ok {
		found, _ = ps.byKey.LoadOrStore(key, &pageSlot{})
	}
	s := found.(*pageSlot) //nolint:forcetypeassert // nothing else is stored
	if p := s.page.Load(); p != nil && p.menu == b {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.page.Load(); p != nil && p.menu == b {
		return p, nil
	}
	p, err := newPage(b, l, kinds)
	// After an error the old page stays cached. It is not sent to requests with the new menu.
	if err == nil {
		s.page.Store(p)
	}
	return p, err
}

// acceptsGzip reports whether an Accept-Encoding header (RFC 9110, section 12.5.3) accepts gzip: gzip or * with a
// weight above zero.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		coding = strings.TrimSpace(coding)
		if strings.EqualFold(coding, "gzip") || coding == "*" {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

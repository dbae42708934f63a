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

// page is a board as it is sent in one locale. It never changes.
type page struct {
	board *catalog.Board
	body  []byte
	etag  string
	zip   func() []byte // made when somebody first wants it
}

func newPage(b *catalog.Board, l catalog.Locale) (*page, error) {
	body, err := render(b, l)
	if err != nil {
		return nil, err
	}
	p := &page{board: b, body: body, etag: weak(httpapi.ETag(body))}
	p.zip = sync.OnceValue(func() []byte { return compress(body) })
	return p, nil
}

// weak makes the validator one for what is said, however it is encoded: a strong one would have to differ between the
// plain and the compressed bytes (RFC 9110, section 8.8.3.3).
func weak(etag string) string { return "W/" + etag }

func compress(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// pages keeps what was rendered last, per branch and locale. A page is made anew only when its board has changed, and
// by one request at a time. There are as many pages as there are branches and locales, because both are known to exist.
type pages struct{ byKey sync.Map } // pageKey -> *pageSlot

type pageKey struct {
	branch int64
	locale catalog.Locale
}

type pageSlot struct {
	page atomic.Pointer[page]
	mu   sync.Mutex // held while rendering
}

func (ps *pages) of(b *catalog.Board, l catalog.Locale) (*page, error) {
	key := pageKey{b.Branch.ID, l}
	found, ok := ps.byKey.Load(key)
	if !ok {
		found, _ = ps.byKey.LoadOrStore(key, &pageSlot{})
	}
	s := found.(*pageSlot) //nolint:forcetypeassert // nothing else is stored
	if p := s.page.Load(); p != nil && p.board == b {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.page.Load(); p != nil && p.board == b {
		return p, nil
	}
	p, err := newPage(b, l)
	if err == nil {
		s.page.Store(p)
	}
	return p, err
}

// acceptsGzip reads an Accept-Encoding header (RFC 9110, section 12.5.3): gzip or *, not refused by a weight of zero.
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

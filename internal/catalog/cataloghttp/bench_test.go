package cataloghttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/testenv"
)

// bigMenu is a site with a menu of 200 items, half of them with a quota, and the real clock.
func bigMenu(b *testing.B) *site {
	b.Helper()
	s := newSite(b)
	items, quotas := make([]catalog.Item, 200), map[int64]int64{}
	for i := range items {
		id := int64(11 + i)
		items[i] = catalogtest.Item(id, 65000)
		if i%2 == 0 {
			quotas[id] = 20
		}
	}
	s.source.Put(catalogtest.Branch(), catalogtest.Content(6, quotas, items...))
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				s.clock.Advance(10 * time.Millisecond)
			}
		}
	}()
	b.Cleanup(func() { close(stop) })
	return s
}

// discard is a ResponseWriter that drops the body.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header    { return d.header }
func (d *discard) WriteHeader(status int) { d.status = status }
func (d *discard) Write(p []byte) (int, error) {
	d.bytes += len(p)
	return len(p), nil
}

// BenchmarkMenuActive measures whole responses of the server's handler, without the network.
func BenchmarkMenuActive(b *testing.B) {
	s := bigMenu(b)
	etag := s.menu(b).Header().Get("ETag")
	for _, c := range []struct {
		name   string
		status int
		header http.Header
	}{
		{"200", 200, http.Header{}},
		{"200_gzip", 200, http.Header{"Accept-Encoding": {"gzip"}}},
		{"304", 304, http.Header{"If-None-Match": {etag}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest(http.MethodPost, "/cis/menu/active", strings.NewReader(`{"branchId":"1","tableId":"3"}`))
					r.Header = c.header.Clone()
					r.Header.Set("Content-Type", "application/json")
					w := &discard{header: http.Header{}}
					s.ServeHTTP(w, r)
					if w.status != c.status {
						b.Errorf("status %d", w.status)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}

// BenchmarkRender measures rendering a menu of 200 items, which happens at most five times a second per branch and
// locale.
func BenchmarkRender(b *testing.B) {
	s := bigMenu(b)
	menus := catalog.NewMenuCache(s.source, catalog.NoSharedCache{}, s.clock.Now)
	menu := testenv.Must(catalog.NewLiveMenus(menus, s.left, s.clock.Now).Get(b.Context(), 1))(b)
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			p, err := newPage(menu, catalog.Vietnamese, atTable)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(p.body)))
		}
	})
	b.Run("gzip", func(b *testing.B) {
		for b.Loop() {
			p, err := newPage(menu, catalog.Vietnamese, atTable)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(p.zip())))
		}
	})
}

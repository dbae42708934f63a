package documenthttp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/document/documenttest"
	"comanda/internal/httpapi"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cold makes all reads use SQL, as before the documents are in Redis. documentredis.TestReader_finds checks that reads
// from Redis return the same.
type cold struct{}

func (cold) Epoch() string { return "" }
func (cold) Damaged() bool { return false }

// onEach runs a test on both engines, with 25 dishes of two categories.
func onEach(t *testing.T, test func(t *testing.T, s http.Handler)) {
	t.Helper()
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		h := documenttest.Writer{DB: db}
		testenv.NoError(t, h.PutCategory(t.Context(), 1, "Món chính"), h.PutCategory(t.Context(), 2, "Đồ uống"))
		for i := range int64(25) {
			testenv.NoError(t, h.PutDish(t.Context(), i+1, 1+i%2, fmt.Sprintf("Phở số %d", i+1)), h.OfferDishes(t.Context(), i+1))
		}
		// Nothing shows a draft and a dish that was taken off.
		testenv.NoError(t, h.PutDish(t.Context(), 26, 2, "Phở số 26"), h.PutDish(t.Context(), 27, 2, "Phở số 27"),
			h.OfferDishes(t.Context(), 27), h.WithdrawDishes(t.Context(), 27))
		conf := httpapi.Default()
		conf.AccessLog = false
		server := testenv.Must(httpapi.New(conf, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))(t)
		Register(server.API(), &document.Reader{Source: documentsql.New(db), State: cold{}, Repair: func(...document.Ref) {}}, nil, db.Now)
		test(t, server)
	})
}

// page is a list as clients see it.
type page struct {
	Items []map[string]any `json:"items"`
	Total int              `json:"total"`
}

func get(t *testing.T, s http.Handler, path string, into any, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := testenv.Serve(t, s, http.MethodGet, path, "", headers...)
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); w.Code != http.StatusOK || err != nil {
			t.Fatalf("GET %s: status %d with body %s, want 200 with JSON", path, w.Code, w.Body)
		}
	}
	return w
}

func (p page) names() string {
	names := make([]string, len(p.Items))
	for i, item := range p.Items {
		names[i] = fmt.Sprint(item["name"])
	}
	return strings.Join(names, ", ")
}

func TestRoutes_lists(t *testing.T) {
	onEach(t, func(t *testing.T, s http.Handler) {
		for _, q := range []struct {
			path, language string
			total          int
			names          string
		}{
			{"/categories", "", 2, "Món chính, Đồ uống"},
			{"/categories?locale=en", "", 2, "Món chính (en), Đồ uống (en)"},
			{"/categories?locale=th", "", 2, "Món chính, Đồ uống"},
			{"/categories?size=1&page=2", "en;q=0.9, fr", 2, "Đồ uống (en)"},
			{"/categories?page=3", "zh", 2, ""},
			{"/dishes?size=2", "", 25, "Phở số 1, Phở số 2"},
			{"/dishes?size=2&page=13", "", 25, "Phở số 25"},
			{"/dishes?size=2&page=14", "", 25, ""},
			{"/dishes?categoryId=2&size=2&page=2", "", 12, "Phở số 6, Phở số 8"},
			{"/dishes?categoryId=9", "", 0, ""},
			{"/dishes?categoryId=x", "", 0, ""},
			{"/dishes?q=S%E1%BB%90%2025", "", 1, "Phở số 25"},
			{"/dishes?q=2&categoryId=2&size=3", "", 5, "Phở số 2, Phở số 12, Phở số 20"},
			{"/dishes?q=2&categoryId=2&size=3&page=2", "", 5, "Phở số 22, Phở số 24"},
			{"/dishes?q=(EN)&size=1", "en", 25, "Phở số 1 (en)"},
			{"/dishes?q=cola", "", 0, ""},
			{"/dishes?q=+SO++pho+7+", "", 2, "Phở số 7, Phở số 17"},
			{"/dishes?q=pho+so+1&size=3", "", 12, "Phở số 1, Phở số 10, Phở số 11"}, // begins the name
			{"/dishes?q=pho+so+1&size=2&page=6", "", 12, "Phở số 19, Phở số 21"},
			{"/dishes?q=do+uong&size=1", "", 12, "Phở số 2"}, // the category
			{"/dishes?q=%CC%81", "", 25, "Phở số 1, Phở số 2, Phở số 3, Phở số 4, Phở số 5, Phở số 6, Phở số 7, Phở số 8, Phở số 9, " +
				"Phở số 10, Phở số 11, Phở số 12, Phở số 13, Phở số 14, Phở số 15, Phở số 16, Phở số 17, Phở số 18, Phở số 19, Phở số 20"},
			{"/dishes?q=26", "", 0, ""},
			{"/dishes?q=27&categoryId=2", "", 0, ""},
		} {
			var p page
			get(t, s, q.path, &p, "Accept-Language", q.language)
			if p.Items == nil || p.Total != q.total || p.names() != q.names {
				t.Errorf("%s: %d, %s; want %d, %s", q.path, p.Total, p.names(), q.total, q.names)
			}
		}
		for _, path := range []string{"/dishes?size=101", "/dishes?page=0", "/categories?size=x", "/dishes?q=" + strings.Repeat("x", 101)} {
			if w := get(t, s, path, nil); w.Code/100 != 4 {
				t.Errorf("GET %s: status %d, want 4xx", path, w.Code)
			}
		}
	})
}

func TestRoutes_dish(t *testing.T) {
	onEach(t, func(t *testing.T, s http.Handler) {
		var d map[string]any
		get(t, s, "/dishes/4?locale=en", &d)
		delete(d, "$schema")
		want := map[string]any{
			"id": "4", "categoryId": "2", "name": "Phở số 4 (en)", "description": "", "imageUrl": nil, "price": 50000.0, "currency": "VND",
			"available": true, "stock": nil, "soldToday": nil, "branches": map[string]any{},
		}
		testenv.Equal(t, want, d)
		for _, id := range []string{"99", "x", "04", "-4", "26", "27"} {
			var problem struct {
				Code string `json:"code"`
			}
			w := get(t, s, "/dishes/"+id, nil)
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != http.StatusNotFound || problem.Code != "dish_not_found" {
				t.Errorf("dish %s: %d %s", id, w.Code, w.Body)
			}
		}
	})
}

// largeMenu returns the documents of 5,000 dishes.
type largeMenu []document.Document

// Get implements Reader.
func (largeMenu) Get(context.Context, *document.Entity, string) (d document.Document, found bool, err error) {
	return d, false, nil
}

// GetMany implements Reader.
func (m largeMenu) GetMany(context.Context, *document.Entity, []string) ([]document.Document, error) {
	return m[:20], nil
}

// Find implements Reader.
func (m largeMenu) Find(_ context.Context, e *document.Entity, _ document.Filter, p document.Page) ([]document.Document, int, error) {
	if e == document.Category {
		return nil, 0, nil
	}
	return m[p.Offset:min(p.Offset+p.Limit, len(m))], len(m), nil
}

func newLargeMenu() (m largeMenu) {
	for i := range maxSearched {
		m = append(m, document.Document{Entity: document.Dish, ID: fmt.Sprint(i + 1), JSON: fmt.Sprintf(`{"id":"%d","categoryId":"1","onMenu":true,
			"names":{"vi":"Phở bò tái số %d","en":"Beef pho %d","zh-TW":"牛肉河粉 %d"},
			"descriptions":{"vi":"Bánh phở mềm, thịt bò chín, nước dùng xương bò ninh mười hai tiếng với hồi, quế và gừng nướng.",
			"en":"Soft rice noodles and tender beef in a bone broth simmered for twelve hours with star anise."}}`, i+1, i, i, i)})
	}
	return m
}

// A search of 5,000 dishes whose texts are known, and one that reads them.
func BenchmarkSearch(b *testing.B) {
	for name, age := range map[string]time.Duration{"known": 0, "read": searchAge} {
		b.Run(name, func(b *testing.B) {
			now := time.Unix(0, 0)
			o := &routes{documents: newLargeMenu(), now: func() time.Time { return now }}
			in := &dishesIn{}
			in.Page, in.Size = 1, 20
			testenv.Must(o.searchables(b.Context()))(b)
			for b.Loop() {
				now = now.Add(age)
				if found := testenv.Must(o.search(b.Context(), in, text.ParseQuery("bò 49")))(b); found.Total != 199 {
					b.Fatal(found.Total)
				}
			}
		})
	}
}

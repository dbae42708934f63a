package documenthttp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"comanda/internal/document"
	"comanda/internal/testenv"
	"comanda/internal/text"
)

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

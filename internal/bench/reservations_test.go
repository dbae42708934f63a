package bench

import (
	"net/http"
	"strings"
	"testing"
)

// Every reservation has its own id, the items are used in turn, and each confirmation is of the reservation just before
// it.
func TestReservations(t *testing.T) {
	p := stub(t)
	p.service = "Bearer secret"
	ids, items, last := map[string]bool{}, map[string]int{}, ""
	for conn := range 2 {
		next := p.sell("run", conn)
		for n := range 4 * stockItems {
			r, body := parseRequest(t, next())
			if r.Header.Get("Authorization") != p.service {
				t.Fatal("the request has no service token")
			}
			if n%2 == 1 {
				if r.URL.Path != reservePath+"/"+last+"/confirm" {
					t.Fatalf("%s is confirmed after %s", r.URL.Path, last)
				}
				continue
			}
			id, _ := body["orderId"].(string)
			lines, _ := body["items"].([]any)
			if id == "" || ids[id] || len(lines) != 1 {
				t.Fatalf("reservation = %v, want a new orderId and one item", body)
			}
			line, _ := lines[0].(map[string]any)
			item, _ := line["itemId"].(string)
			ids[id], last = true, id
			items[item]++
		}
	}
	for item, n := range items {
		if n != 4 || !strings.HasPrefix(item, "bench-") {
			t.Errorf("%s was asked for %d times", item, n)
		}
	}
	if len(items) != stockItems {
		t.Errorf("%d items", len(items))
	}
}

func TestLevels(t *testing.T) {
	next, seen := stub(t).levels(3), map[string]bool{}
	for range stockItems {
		r, _ := parseRequest(t, next())
		if r.Method != http.MethodGet {
			t.Fatal(r.Method)
		}
		seen[r.URL.Path] = true
	}
	if len(seen) != stockItems {
		t.Errorf("%d items are looked at", len(seen))
	}
}

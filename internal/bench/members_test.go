package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"testing"

	"comanda/internal/testenv"
)

// Requests of members for their carts have the expected method and path, and the member's own token.
func TestMembers_requests(t *testing.T) {
	p := stub(t)
	p.branch, p.members = 9000, []shopper{{"Bearer a", "11"}, {"Bearer b", "12"}}
	for name, c := range map[string]struct {
		requests   func(conn int) func() []byte
		want       string
		quantities int
	}{
		"reads": {p.cartReads, "GET /cart", 1}, "changes": {p.cartChanges, "PATCH /cart/items/12", 2},
	} {
		t.Run(name, func(t *testing.T) {
			next, quantities := c.requests(1), map[any]bool{}
			for range 10 {
				r, body := parseRequest(t, next())
				if got := r.Method + " " + r.URL.Path; got != c.want || r.Header.Get("Authorization") != "Bearer b" {
					t.Fatalf("%s by %q", got, r.Header.Get("Authorization"))
				}
				quantities[body["quantity"]] = true
			}
			if len(quantities) != c.quantities {
				t.Errorf("quantities: %v", quantities)
			}
		})
	}
}

// In a round every member sends one request, whatever the number of connections, and no two checkouts or orders of any
// round have the same clientTxnId.
func TestRounds_requests(t *testing.T) {
	p := stub(t)
	p.branch = 9000
	for i := range 2*p.conns + 7 {
		p.members = append(p.members, shopper{token: "Bearer " + strconv.Itoa(i)})
	}
	keys := map[any]bool{}
	for name, c := range map[string]struct {
		requests func(round int) []func() []byte
		want     string
		header   string
		persons  int
	}{
		"fills":     {func(int) []func() []byte { return p.fillRequests() }, "POST /cart/add-dish", "Authorization", len(p.members)},
		"checkouts": {func(n int) []func() []byte { return p.checkouts("run", n) }, "POST /cart/checkout", "Authorization", len(p.members)},
		"orders":    {func(n int) []func() []byte { return p.tableOrders("other", n) }, "POST " + orderPath, "X-Customer-Token", len(p.guests)},
	} {
		for round := range 2 {
			requestCount, persons := 0, map[string]bool{}
			for _, next := range c.requests(round) {
				for text := next(); text != nil; text = next() {
					r, body := parseRequest(t, text)
					if got := r.Method + " " + r.URL.Path; got != c.want {
						t.Fatalf("request for %s = %s, want %s", name, got, c.want)
					}
					if key := body["clientTxnId"]; key != nil && keys[key] {
						t.Errorf("%v once more", key)
					}
					keys[body["clientTxnId"]], persons[r.Header.Get(c.header)] = true, true
					requestCount++
				}
			}
			if requestCount != len(p.members) || len(persons) != c.persons {
				t.Errorf("%s: %d requests of %d persons", name, requestCount, len(persons))
			}
		}
	}
}

// parseRequest reads a request as a server does.
func parseRequest(t *testing.T, text []byte) (*http.Request, map[string]any) {
	t.Helper()
	r := testenv.Must(http.ReadRequest(bufio.NewReader(bytes.NewReader(text))))(t)
	raw := testenv.Must(io.ReadAll(r.Body))(t)
	body := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatalf("body %s is not a JSON object: %v", raw, err)
		}
	}
	return r, body
}

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What members ask for is in turn what it says, under their own token, and no two checkouts bear one clientTxnId.
func TestMembers_requests(t *testing.T) {
	p := stub(t)
	p.branch, p.members = 9000, []shopper{{"Bearer a", "11"}, {"Bearer b", "12"}}
	for name, c := range map[string]struct {
		requests func(conn int) func() []byte
		want     []string
	}{
		"reads":   {p.cartReads, []string{"GET /cart", "GET /cart"}},
		"changes": {p.cartChanges, []string{"PATCH /cart/items/12", "PATCH /cart/items/12"}},
		"filling": {p.filling, []string{"POST /cart/add-dish", "DELETE /cart"}},
		"buying":  {func(n int) func() []byte { return p.buying("run", n) }, []string{"POST /cart/add-dish", "POST /cart/checkout"}},
		"dining":  {func(n int) func() []byte { return p.dining("run", n) }, []string{"PATCH /cart/items/12", "POST " + orderPath}},
	} {
		t.Run(name, func(t *testing.T) {
			next, keys, quantities := c.requests(1), map[any]bool{}, map[any]bool{}
			for range 50 {
				var got []string
				for range c.want {
					r, body := asked(t, next())
					got = append(got, r.Method+" "+r.URL.Path)
					if r.URL.Path != orderPath && r.Header.Get("Authorization") != "Bearer b" {
						t.Errorf("%s by %q", r.URL.Path, r.Header.Get("Authorization"))
					}
					if key := body["clientTxnId"]; key != nil && keys[key] {
						t.Errorf("%v once more", key)
					}
					keys[body["clientTxnId"]], quantities[body["quantity"]] = true, true
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Fatal(diff)
				}
			}
			if name == "changes" && len(quantities) != 2 {
				t.Errorf("nothing is changed by %v", quantities)
			}
		})
	}
}

// asked reads a request as a server does.
func asked(t *testing.T, text []byte) (*http.Request, map[string]any) {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
	return r, body
}

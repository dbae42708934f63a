package cataloghttp

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogtest"
	"comanda/internal/fault"
)

// seats lets everybody with the token "ann" sit in branch 1.
type seats struct{}

func (seats) BranchOf(_ context.Context, token string) (int64, string, error) {
	if token != "ann" {
		return 0, "", fault.New(fault.Unauthenticated, "customer_token_invalid", "")
	}
	return 1, "ann", nil
}

func TestLive_refusals(t *testing.T) {
	s := newSite(t)
	for path, c := range map[string]struct {
		token, code string
		status      int
	}{
		"/cis/branch/1/availability/events": {"eve", "customer_token_invalid", http.StatusUnauthorized},
		"/cis/branch/2/availability/events": {"ann", "branch_not_found", http.StatusNotFound},
		"/cis/branch/x/availability/events": {"ann", "branch_not_found", http.StatusNotFound},
	} {
		wantStatus(t, s.ask(t, http.MethodGet, path, "", "X-Customer-Token", c.token), c.status, c.code)
	}
}

// A stream begins with everything, unless the client has seen the present state; then it tells what changes.
func TestLive_stream(t *testing.T) {
	s := newSite(t)
	s.left.Set(11, 7)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	l := openLive(t, server.URL, "")
	const rest = `"isActive":true,"isSoldOut":`
	l.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":true,"isPaused":false,"items":[{"itemId":"11",` + rest + `false,"remaining":7},` +
		`{"itemId":"12",` + rest + `false,"remaining":null}]}`)
	seen := l.id
	s.left.Set(11, 0)
	s.later()
	l.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":false,"isPaused":false,"items":[{"itemId":"11",` + rest + `true,"remaining":0}]}`)
	if l.id == seen {
		t.Error("another state has the same id")
	}
	back := openLive(t, server.URL, l.id)
	s.left.Set(11, 7)
	s.later()
	back.want(`{"menuVersionId":"5","bizDate":"2026-02-26","complete":false,"isPaused":false,"items":[{"itemId":"11",` + rest + `false,"remaining":7}]}`)
	if back.id != seen {
		t.Error("the same state has another id")
	}
	s.shelf.Put(catalogtest.Branch(), catalogtest.Content(6, nil, catalogtest.Item(12, 1)))
	s.later()
	back.want(`{"menuVersionId":"6","bizDate":"2026-02-26","complete":true,"isPaused":false,"items":[{"itemId":"12",` + rest + `false,"remaining":null}]}`)

	// A pause is told although nothing has become more or less.
	b, c := catalogtest.Branch(), catalogtest.Content(6, nil, catalogtest.Item(12, 1))
	b.Pause, c.Revision = &catalog.Pause{Code: catalog.PauseBusy}, 7
	s.shelf.Put(b, c)
	s.later()
	back.want(`{"menuVersionId":"6","bizDate":"2026-02-26","complete":false,"isPaused":true,"items":[]}`)
}

type liveClient struct {
	t    *testing.T
	text *bufio.Scanner
	id   string
}

func openLive(t *testing.T, url, after string) *liveClient {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/cis/branch/1/availability/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Customer-Token", "ann")
	r.Header.Set("Last-Event-ID", after)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &liveClient{t: t, text: bufio.NewScanner(res.Body)}
}

func (l *liveClient) want(data string) {
	l.t.Helper()
	for l.text.Scan() {
		if id, ok := strings.CutPrefix(l.text.Text(), "id: "); ok {
			l.id = id
		}
		if got, ok := strings.CutPrefix(l.text.Text(), "data: "); ok {
			if d := cmp.Diff(data, got); d != "" {
				l.t.Fatal(d)
			}
			return
		}
	}
	l.t.Fatalf("the stream has ended: %v", l.text.Err())
}

// What is told of a board is exactly what differs from the last one.
func TestDifferences(t *testing.T) {
	s := newSite(t)
	boards := catalog.NewBoards(catalog.NewMenus(s.shelf, catalog.Alone{}, s.clock), s.left, s.clock)
	board := func(left int64) *catalog.Board {
		s.left.Set(11, left)
		s.later()
		b, err := boards.Get(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	seven, three := board(7), board(3)
	if d := differences(nil, seven); d == nil || !d.Complete || len(d.Items) != 2 {
		t.Errorf("the first: %+v", d)
	}
	if d := differences(seven, seven); d != nil {
		t.Errorf("nothing has changed: %+v", d)
	}
	if d := differences(seven, board(7)); d != nil {
		t.Errorf("another board that says the same: %+v", d)
	}
	again := &catalog.Board{Snapshot: seven.Snapshot, Date: seven.Date, Pause: &catalog.Pause{Code: catalog.PauseBusy}}
	same := &catalog.Board{Snapshot: seven.Snapshot, Date: seven.Date, Pause: &catalog.Pause{Code: catalog.PauseBusy}}
	if d := differences(again, same); d != nil {
		t.Errorf("the same pause, loaded once more: %+v", d)
	}
	if d := differences(seven, three); d == nil || d.Complete || len(d.Items) != 1 || *d.Items[0].Remaining != 3 {
		t.Errorf("one item: %+v", d)
	}
}

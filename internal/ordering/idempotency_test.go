package ordering

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"comanda/internal/testenv"

	"comanda/internal/catalog"
)

// If a request panics, only its own caller sees the panic. A caller that waits for the result receives ErrRetry.
func TestService_once_panics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := &Service{}, make(chan struct{})
		place := func(context.Context) (Receipt, error) {
			<-release
			panic("a defect")
		}
		crashes, results := make(chan any, 2), make(chan error, 2)
		for range 2 {
			go func() {
				defer func() { crashes <- recover() }()
				_, err := s.placeIdempotent(t.Context(), IdempotencyKey{ClientTxnID: "1"}, contentOf("one"), place)
				results <- err
			}()
		}
		synctest.Wait()
		close(release)
		testenv.ErrorIs(t, ErrRetry, <-results, "the waiting request")
		if a, b := <-crashes, <-crashes; (a == nil) == (b == nil) {
			t.Errorf("%v and %v, want one panic", a, b)
		}
	})
}

// A repetition stops waiting when its client disconnects. The first request continues, because its order is being
// placed.
func TestService_once_abandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := &Service{}, make(chan struct{})
		place := func(ctx context.Context) (Receipt, error) {
			<-release
			return Receipt{Order: Order{ID: "7"}, New: true}, ctx.Err()
		}
		ctx, leave := context.WithCancel(t.Context())
		first, second := make(chan Receipt, 1), make(chan error, 1)
		go func() {
			r, err := s.placeIdempotent(ctx, IdempotencyKey{ClientTxnID: "1"}, contentOf("one"), place)
			if err != nil {
				t.Error(err)
			}
			first <- r
		}()
		synctest.Wait()
		go func() {
			_, err := s.placeIdempotent(ctx, IdempotencyKey{ClientTxnID: "1"}, contentOf("one"), place)
			second <- err
		}()
		synctest.Wait()
		leave()
		testenv.ErrorIs(t, context.Canceled, <-second, "the repetition")
		close(release)
		if r := <-first; r.Order.ID != "7" || !r.New {
			t.Errorf("the first request: %+v", r)
		}
	})
}

// Requests with one key and other contents run apart, and each repetition receives the result of its own content, also after one
// of them has ended.
func TestService_once_by_content(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, results := &Service{}, make(chan string, 4)
		release := map[string]chan struct{}{"one": make(chan struct{}), "two": make(chan struct{})}
		request := func(text string, isNew bool) {
			go func() {
				r, err := s.placeIdempotent(t.Context(), IdempotencyKey{ClientTxnID: "1"}, contentOf(text), func(context.Context) (Receipt, error) {
					<-release[text]
					return Receipt{Order: Order{ID: text}, New: true}, nil
				})
				if err != nil || r.New != isNew {
					t.Errorf("%s: %+v, error %v, want new %t", text, r, err, isNew)
				}
				results <- r.Order.ID
			}()
			synctest.Wait()
		}
		request("one", true)
		request("two", true)
		request("one", false)
		close(release["one"])
		if a, b := <-results, <-results; a != "one" || b != "one" {
			t.Errorf("results %s and %s, want one twice", a, b)
		}
		synctest.Wait()
		request("two", false)
		close(release["two"])
		if a, b := <-results, <-results; a != "two" || b != "two" {
			t.Errorf("results %s and %s, want two twice", a, b)
		}
		if synctest.Wait(); len(s.placing.running) != 0 {
			t.Errorf("%d keys remain", len(s.placing.running))
		}
	})
}

// Requests without options keep the digests of releases before options: a repetition after an upgrade must find its
// order. The text is the JSON that they hashed.
func TestDigestOf_without_options(t *testing.T) {
	r := Request{
		Items:  []RequestItem{{ItemID: 11, Qty: 2, Notes: "no ice"}, {ItemID: 12, Qty: 1, Line: "line-0001"}},
		Method: "SANDBOX", MenuVersionID: 5, VisitID: "visit",
	}
	text := json.RawMessage(`{"i":[{"i":11,"q":2,"n":"no ice"},{"i":12,"q":1,"n":"","l":"line-0001"}],"m":"SANDBOX","v":5,"s":"visit","t":null}`)
	if got, want := contentOf(r).digest(), contentOf(text).digest(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	r.Items[0].Options = []catalog.ChosenOption{{OptionID: 3, Qty: 1}}
	if contentOf(r).digest() == contentOf(text).digest() {
		t.Error("a request with options has the digest of one without")
	}
}

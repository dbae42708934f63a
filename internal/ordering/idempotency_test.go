package ordering

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

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
				_, err := s.placeIdempotent(t.Context(), IdempotencyKey{ClientTxnID: "1"}, "digest", place)
				results <- err
			}()
		}
		synctest.Wait()
		close(release)
		if err := <-results; !errors.Is(err, ErrRetry) {
			t.Errorf("the waiting request: %v, want ErrRetry", err)
		}
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
			r, err := s.placeIdempotent(ctx, IdempotencyKey{ClientTxnID: "1"}, "digest", place)
			if err != nil {
				t.Error(err)
			}
			first <- r
		}()
		synctest.Wait()
		go func() {
			_, err := s.placeIdempotent(ctx, IdempotencyKey{ClientTxnID: "1"}, "digest", place)
			second <- err
		}()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the repetition: error %v, want Canceled", err)
		}
		close(release)
		if r := <-first; r.Order.ID != "7" || !r.New {
			t.Errorf("the first request: %+v", r)
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
	if got, want := digestOf(r), digestOf(text); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	r.Items[0].Options = []catalog.ChosenOption{{OptionID: 3, Qty: 1}}
	if digestOf(r) == digestOf(text) {
		t.Error("a request with options has the digest of one without")
	}
}

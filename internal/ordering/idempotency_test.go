package ordering

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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

package documentredis

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/testenv"
)

func TestStore_Verified(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		if v, ok, err := r.store.LastVerified(t.Context()); ok || err != nil {
			t.Errorf("before the first comparison: %+v, %v", v, err)
		}
		want := document.Verified{At: time.Date(2026, 11, 26, 4, 0, 0, 0, time.UTC), Found: map[string]int{document.Missing: 2}}
		testenv.NoError(t, r.store.SaveVerified(t.Context(), want))
		got, ok, err := r.store.LastVerified(t.Context())
		if !ok || err != nil {
			t.Fatalf("LastVerified: %t, %v", ok, err)
		}
		testenv.Equal(t, want, got)

		claim := func() bool { return testenv.Must(r.store.ClaimVerification(t.Context(), time.Hour))(t) }
		if !claim() || claim() {
			t.Error("two processes may compare at the same time")
		}
		testenv.NoError(t, r.store.ReleaseVerification(t.Context()))
		if !claim() {
			t.Error("after a comparison no process may make the next one")
		}
		testenv.NoError(t, r.redis.Do(t.Context(), "SET", keyspace.DocumentsVerified(), "{", "EX", "60").Err())
		if _, ok, err := r.store.LastVerified(t.Context()); ok || err != nil {
			t.Errorf("a damaged result: %t, %v, want none", ok, err)
		}
	})
}

// A paced comparison finds the same, rests between its pages and batches, and ends when it is stopped.
func TestVerify_paced(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		fill(t, r, orderID(1))
		sendRaw(t, r, []string{"DEL", "user:456"}, []string{"SADD", "user:index:city:hue", "456"})
		want := r.verify(t)
		batches, pages := 0, 0
		v := &document.Verifier{
			Source: r.sql, Pause: func(context.Context) error { return nil },
			Mirror: r.store.Paced(func(context.Context) error { pages++; return nil }),
			Pace:   func(context.Context) error { batches++; return nil },
		}
		testenv.Equal(t, want, testenv.Must(v.Verify(t.Context()))(t))
		if batches < len(document.Entities) || pages == 0 {
			t.Errorf("%d batches of %d entities and %d pages were paced", batches, len(document.Entities), pages)
		}
		stopped := errors.New("stopped")
		v.Mirror = r.store.Paced(func(context.Context) error { return stopped })
		if _, err := v.Verify(t.Context()); !errors.Is(err, stopped) {
			t.Errorf("a stopped walk: error %v, want %v", err, stopped)
		}
		v.Pace = v.Mirror.(pacedMirror).pace
		if _, err := v.Verify(t.Context()); !errors.Is(err, stopped) {
			t.Errorf("a stopped comparison: error %v, want %v", err, stopped)
		}
	})
}

package document

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// verifiedStore is a VerifiedStore in memory.
type verifiedStore struct {
	last    Verified
	saved   bool
	claimed bool
}

func (s *verifiedStore) LastVerified(context.Context) (Verified, bool, error) {
	return s.last, s.saved, nil
}

func (s *verifiedStore) SaveVerified(_ context.Context, v Verified) error {
	s.last, s.saved = v, true
	return nil
}

func (s *verifiedStore) ClaimVerification(context.Context, time.Duration) (bool, error) {
	ok := !s.claimed
	s.claimed = true
	return ok, nil
}

func (s *verifiedStore) ReleaseVerification(ctx context.Context) error {
	s.claimed = false
	return ctx.Err() // of a context that outlives the round's
}

// restaurant-redis 10.2: the documents are compared once per business day, by one process, and only while they are
// complete.
func TestDailyVerifier(t *testing.T) {
	opens := time.Date(2026, 11, 26, 4, 0, 0, 0, time.UTC)
	before, now := opens.Add(-time.Minute), opens.Add(time.Minute)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		store   verifiedStore
		epochs  []string // of consecutive calls
		err     error
		runs    bool
		saved   bool
		claimed bool // afterwards
	}{
		"the first":                    {epochs: []string{"e", "e"}, runs: true, saved: true},
		"a new business day":           {store: verifiedStore{last: Verified{At: before}, saved: true}, epochs: []string{"e", "e"}, runs: true, saved: true},
		"done today":                   {store: verifiedStore{last: Verified{At: opens}, saved: true}, epochs: []string{"e"}},
		"done before the clock was":    {store: verifiedStore{last: Verified{At: now.Add(time.Hour)}, saved: true}, epochs: []string{"e", "e"}, runs: true, saved: true},
		"another process compares":     {store: verifiedStore{claimed: true}, epochs: []string{"e"}, claimed: true},
		"the documents are incomplete": {epochs: []string{""}},
		"a rebuild began meanwhile":    {epochs: []string{"e", ""}, runs: true},
		"a failure":                    {epochs: []string{"e"}, err: broken, runs: true},
	} {
		t.Run(name, func(t *testing.T) {
			store, runs := c.store, 0
			was := store.last.At
			ctx, cancel := context.WithCancel(t.Context())
			d := DailyVerifier{
				Store: &store, Now: func() time.Time { return now },
				Start: func(context.Context, time.Time) (time.Time, error) { return opens, nil },
				Epoch: func() string {
					e := c.epochs[0]
					c.epochs = c.epochs[1:]
					return e
				},
				Verify: func(context.Context) (Verification, error) {
					runs++
					cancel() // the process stops at this moment
					return Verification{Found: map[string]int{Missing: 2, Stale: 1}}, c.err
				},
			}
			testenv.ErrorIs(t, c.err, d.RunOnce(ctx))
			cancel()
			testenv.Equal(t, c.runs, runs == 1)
			testenv.Equal(t, c.claimed, store.claimed)
			if c.saved && (!store.last.At.Equal(now) || store.last.Differences() != 3) || !c.saved && !store.last.At.Equal(was) {
				t.Errorf("saved %+v", store.last)
			}
		})
	}
}

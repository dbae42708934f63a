package document

import (
	"context"
	"time"
)

// Verified is the result of the last complete comparison of Redis with SQL.
type Verified struct {
	At    time.Time      `json:"at"`
	Found map[string]int `json:"found"` // differences by kind
}

// Differences returns the number of differences of all kinds.
func (v Verified) Differences() (total int) {
	for _, n := range v.Found {
		total += n
	}
	return total
}

// VerifiedStore stores the last result beside the documents, and decides which process compares them;
// documentredis.Store implements it. The result is lost with the documents that it is about.
type VerifiedStore interface {
	// LastVerified returns the last result; ok is false if there is none.
	LastVerified(ctx context.Context) (v Verified, ok bool, err error)
	SaveVerified(ctx context.Context, v Verified) error
	// ClaimVerification reports whether this process may compare. The claim ends by itself after claimLife.
	ClaimVerification(ctx context.Context, claimLife time.Duration) (ok bool, err error)
	ReleaseVerification(ctx context.Context) error
}

// DailyVerifier compares all documents once per business day, at its start: the restaurant is closed then. If no process
// ran at that time, the first one that runs afterwards compares. The comparison is paced by its Verify.
//
// The sampler finds most losses within seconds. The daily comparison also finds what samples do not look for: entries
// without a document, documents that another program has changed, and a defect in an index.
type DailyVerifier struct {
	Store  VerifiedStore
	Verify func(ctx context.Context) (Verification, error)
	Epoch  func() string // of Generation: "" while the documents are not complete
	Start  func(ctx context.Context, now time.Time) (time.Time, error)
	Now    func() time.Time
}

// claimLife is longer than a comparison of millions of documents. A process that is killed delays the comparison by it.
const claimLife = 3 * time.Hour

// releaseTimeout limits the release of a claim after the end of a round's context.
const releaseTimeout = time.Second

// RunOnce compares if the last comparison was before this business day.
func (d *DailyVerifier) RunOnce(ctx context.Context) error {
	epoch := d.Epoch()
	if epoch == "" {
		return nil // a rebuild follows, or Redis is down
	}
	now := d.Now()
	start, err := d.Start(ctx, now)
	if err != nil {
		return err
	}
	last, ok, err := d.Store.LastVerified(ctx)
	// A result from the future was saved before the clock was set back.
	if err != nil || ok && !last.At.Before(start) && !last.At.After(now) {
		return err
	}
	if claimed, err := d.Store.ClaimVerification(ctx, claimLife); err != nil || !claimed {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_ = d.Store.ReleaseVerification(ctx) // otherwise the claim ends by itself
	}()
	v, err := d.Verify(ctx)
	// During a rebuild documents are missing, and that is no drift. The next round compares again.
	if err != nil || d.Epoch() != epoch {
		return err
	}
	return d.Store.SaveVerified(ctx, Verified{At: d.Now(), Found: v.Found})
}

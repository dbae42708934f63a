package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/telemetry"
	"comanda/internal/worker"
)

const (
	// verifyRest is the pause after each batch and each page of the daily comparison, in multiples of its duration, so that it
	// takes at most a fifth of one connection's time.
	verifyRest = 4
	// maxVerifyRest bounds one pause, so that a slow page does not stop the comparison for minutes.
	maxVerifyRest = time.Second

	verifyTimeout = 3 * time.Hour // of one comparison; as long as its claim
)

// verifyLoop compares the documents with SQL once per business day. Any process with the role may do it.
func (k *Core) verifyLoop() worker.Loop {
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "document_verify", Run: k.Daily.RunOnce, Every: time.Minute, Timeout: verifyTimeout, MaxPause: 10 * time.Minute,
	})
}

// wireVerifier creates the daily comparison and its metrics.
func (k *Core) wireVerifier(reg prometheus.Registerer) {
	f := telemetry.Metrics(reg)
	k.verified.drift = f.Gauge("document_drift", "Differences between SQL and Redis that the last complete comparison found.")
	k.verified.at = f.Gauge("document_verified_timestamp_seconds", "Time of the last complete comparison; 0 before the first.")
	cache := documentredis.New(k.Redis)
	k.Daily = &document.DailyVerifier{
		Store: cache, Epoch: k.Generation.Epoch, Now: k.DB.Now, Start: k.quietHour,
		Verify: func(ctx context.Context) (document.Verification, error) {
			p := &pacer{begun: clock.Start()}
			v := &document.Verifier{
				Source: k.documentStore, Mirror: cache.Paced(p.rest), Pace: p.rest,
				Pause: func(ctx context.Context) error { return sleep(ctx, maxVerifyRest) },
			}
			result, err := v.Verify(ctx)
			if err == nil && !result.Clean {
				k.Log.WarnContext(ctx, "the documents in redis differ from SQL", "found", result.Found)
			}
			return result, err
		},
	}
}

// verifiedGauges export the result of the last comparison, whichever process has made it.
type verifiedGauges struct{ drift, at prometheus.Gauge }

// measureVerified exports the last comparison. While Redis does not answer, the gauges keep their values.
func (k *Core) measureVerified(ctx context.Context) {
	if !k.keepsDocuments() || !k.Redis.Up() {
		return
	}
	v, ok, err := k.Daily.Store.LastVerified(ctx)
	if err != nil {
		return
	}
	k.verified.drift.Set(float64(v.Differences()))
	k.verified.at.Set(0)
	if ok {
		k.verified.at.Set(float64(v.At.Unix()))
	}
}

// quietHour returns the start of the first branch's business day, when the restaurant is closed. Without a branch it is
// midnight UTC.
func (k *Core) quietHour(ctx context.Context, now time.Time) (time.Time, error) {
	branches, err := k.Branches.Store.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return now.UTC().Truncate(24 * time.Hour), err
	}
	return branches[0].Calendar().At(now).Start, nil
}

// pacer rests after each unit of work. It is used by one goroutine at a time.
type pacer struct{ begun clock.Stopwatch }

func (p *pacer) rest(ctx context.Context) error {
	err := sleep(ctx, min(verifyRest*p.begun.Elapsed(), maxVerifyRest))
	p.begun = clock.Start()
	return err
}

// sleep waits for a duration or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package inbox

import (
	"context"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// ReplayResult is the result of a replay.
type ReplayResult struct {
	Applied int `json:"applied"`
	Failed  int `json:"failed"` // still dead letters, with the new reason
}

// replayPage is the maximum number of letters in memory at once.
const replayPage = 200

// Replay applies a consumer's dead letters again, each in its own transaction. The filter's consumer is ignored. A
// letter that fails again stays. One that was applied in the meantime is deleted. Letters are read in pages by id, so
// one that fails again is not read twice. If the database becomes unavailable, the replay ends with an error and the
// rest stays.
func (b *Inbox) Replay(ctx context.Context, c Consumer, f eventsql.Filter) (ReplayResult, error) {
	var sum ReplayResult
	f.Consumer = c.Name
	for after := ""; ; {
		letters, err := eventsql.DeadLetters(ctx, b.db, f, after, replayPage)
		if err != nil || len(letters) == 0 {
			return sum, err
		}
		after = letters[len(letters)-1].ID
		for _, l := range letters {
			cause := b.replayOne(ctx, c, l)
			if cause == nil {
				sum.Applied++
				continue
			}
			if err := b.transientCause(ctx, cause); err != nil {
				return sum, err
			}
			sum.Failed++
			if err := b.StoreDeadLetter(ctx, c.Name, l.Event, cause); err != nil {
				return sum, err
			}
		}
	}
}

// replayOne deletes a letter and applies its event in one transaction: the letter disappears only with the effect. If
// another replay was faster, there is nothing to do.
func (b *Inbox) replayOne(ctx context.Context, c Consumer, l eventsql.DeadLetter) error {
	return b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		taken, err := eventsql.DeleteDeadLetters(ctx, tx, c.Name, []eventsql.DeadLetter{l})
		if err != nil || len(taken) == 0 {
			return err
		}
		return b.Deliver(ctx, tx, c, []event.Event{taken[0].Event}, true)
	})
}

// StoreDeadLetter makes an event a dead letter of a consumer without any attempt, for events that can never be applied.
// The caller acknowledges or rejects the message only after it has returned nil (I15).
func (b *Inbox) StoreDeadLetter(ctx context.Context, consumer string, e event.Event, cause error) error {
	return b.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		eventsql.InsertDeadLetters(tx, []eventsql.DeadLetter{
			{Event: e, Consumer: consumer, Reason: cause.Error(), DiedAt: b.db.Now()},
		})
		return nil
	})
}

// purgeStep is the maximum number of rows per purging statement, so that a purge never blocks the writer for long.
const purgeStep = 2000

// Purge deletes the records of events applied, and of failures, before an instant. An event that is delivered again
// after that is applied again, so the instant must lie further back than any redelivery or replay can reach.
func (b *Inbox) Purge(ctx context.Context, before time.Time) (purged int64, err error) {
	for {
		n, err := b.db.Exec(ctx, stmt("dedupe_purge"), before.UnixMilli(), purgeStep)
		purged += n
		if err != nil {
			return purged, err
		}
		if n < purgeStep {
			break
		}
	}
	n, err := b.db.Exec(ctx, stmt("failure_purge"), before.UnixMilli())
	return purged + n, err
}

package inbox

import (
	"context"
	"time"

	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/sqldb"
)

// Replayed is what a replay came to.
type Replayed struct {
	Applied int `json:"applied"`
	Failed  int `json:"failed"` // still dead letters, with a new reason
}

// replayPage bounds how many letters are in memory at once.
const replayPage = 200

// Replay applies a consumer's dead letters again, each in a transaction of its own, and to that consumer only. The
// filter's consumer is ignored. A letter that fails again stays; one that was applied in the meantime just goes.
func (b *Inbox) Replay(ctx context.Context, c Consumer, f eventsql.Filter) (Replayed, error) {
	var sum Replayed
	f.Consumer = c.Name
	for after := ""; ; {
		letters, err := eventsql.DeadLetters(ctx, b.db, f, after, replayPage)
		if err != nil || len(letters) == 0 {
			return sum, err
		}
		after = letters[len(letters)-1].ID
		for _, l := range letters {
			cause := b.revive(ctx, c, l)
			if cause == nil {
				sum.Applied++
				continue
			}
			if err := b.excused(ctx, cause); err != nil {
				return sum, err
			}
			sum.Failed++
			if err := b.Bury(ctx, c.Name, l.Event, cause); err != nil {
				return sum, err
			}
		}
	}
}

func (b *Inbox) revive(ctx context.Context, c Consumer, l eventsql.DeadLetter) error {
	return b.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		taken, err := eventsql.Exhume(ctx, tx, c.Name, []eventsql.DeadLetter{l})
		if err != nil || len(taken) == 0 {
			return err
		}
		return b.Deliver(ctx, tx, c, []event.Event{taken[0].Event})
	})
}

// Bury makes an event a dead letter of a consumer at once, for whoever knows that trying again is of no use.
func (b *Inbox) Bury(ctx context.Context, consumer string, e event.Event, cause error) error {
	return b.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		eventsql.Bury(tx, []eventsql.DeadLetter{
			{Event: e, Consumer: consumer, Reason: cause.Error(), DiedAt: b.db.Now()},
		})
		return nil
	})
}

// purgeStep bounds what one purging statement deletes, so that it never holds the writer for long.
const purgeStep = 2000

// Purge forgets which events were applied, and which failed, before an instant. An event that is delivered once more
// after that is applied once more, so the instant must lie further back than any redelivery or replay can reach.
func (b *Inbox) Purge(ctx context.Context, before time.Time) (purged int64, err error) {
	for {
		n, err := b.db.Exec(ctx, dedupePurge, before.UnixMilli(), purgeStep)
		purged += n
		if err != nil {
			return purged, err
		}
		if n < purgeStep {
			break
		}
	}
	n, err := b.db.Exec(ctx, failurePurge, before.UnixMilli())
	return purged + n, err
}

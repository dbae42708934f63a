package stock

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// rebuildSoon rebuilds a scope in the background, one rebuild at a time and with a pause in between: with Redis gone,
// every order asks for one.
func (k *Gatekeeper) rebuildSoon(s Scope) {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.closing:
		return
	default:
	}
	if begun, ok := k.building[s]; ok && (begun.IsZero() || now.Sub(begun) < rebuildPause) {
		return
	}
	k.building[s] = time.Time{} // under way
	k.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), rebuildTime)
		defer cancel()
		defer k.rebuilt(s)
		defer k.survive("rebuild")
		if err := k.Rebuild(ctx, s); err != nil {
			k.log.DebugContext(ctx, "a scope could not be rebuilt", "branch", s.Branch, "date", s.Date, "err", err)
		}
	})
}

func (k *Gatekeeper) rebuilt(s Scope) {
	k.short.forgetAll()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.building[s] = k.now()
	delete(k.suspects, s)
}

// Rebuild builds a scope of the gate anew from SQL, unless another process is at it. From the moment at which the gate
// is told, it knows nothing of the scope, so everything committed after the image is either still in redis_outbox or
// applied after the rebuild; and every operation is idempotent.
func (k *Gatekeeper) Rebuild(ctx context.Context, s Scope) (err error) {
	begun := k.now()
	mine, err := k.journal.ClaimRebuild(ctx, s, begun, begun.Add(rebuildTime))
	if err != nil || !mine {
		return err
	}
	epoch := ""
	defer func() {
		if end := k.journal.EndRebuild(context.WithoutCancel(ctx), s, epoch); err == nil {
			err = end
		}
		if k.watch.Rebuilt != nil {
			k.watch.Rebuilt(k.now().Sub(begun), err)
		}
	}()
	ends, err := k.endOf(ctx, s)
	if err != nil {
		return err
	}
	building, err := k.gate.BeginRebuild(ctx, s)
	if err != nil {
		return err
	}
	image, err := k.journal.Image(ctx, s, k.now())
	if err != nil {
		return err
	}
	image.Epoch, image.Ends = building, ends
	if err := k.gate.FinishRebuild(ctx, image); err != nil {
		return err
	}
	epoch = building
	return nil
}

// endOf is when a scope ends: with its business day, or, of stock, when it must have been built anew.
func (k *Gatekeeper) endOf(ctx context.Context, s Scope) (time.Time, error) {
	if s.Stock() {
		return k.now().Add(stockLife), nil
	}
	return k.ends(ctx, s)
}

// survive keeps a panic of a background task from ending the process; the ledger is right without the gate.
func (k *Gatekeeper) survive(what string) {
	if p := recover(); p != nil {
		k.log.Error("a task of the gatekeeper panicked", "task", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	}
}

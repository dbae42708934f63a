package stockredis

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"comanda/internal/redisdb"
	"comanda/internal/seq"
	"comanda/internal/stock"
)

const unknownItem = -2 // read.lua's cap of an item that the scope lacks

// Counts returns the counters of items, all of one instant; items that the cache lacks are left out. ok is false for
// an unknown scope.
func (ac *Cache) Counts(ctx context.Context, s stock.Scope, items []int64) (counts []stock.Count, ok bool, err error) {
	counts = make([]stock.Count, 0, len(items))
	for batch := range slices.Chunk(items, maxCounters) {
		ns, err := ac.db.Run(ctx, readScript, counterKeys(s, 0), seq.Map(batch, decimal)).Ints()
		if err != nil {
			return nil, false, err
		}
		if len(ns) != 1+3*len(batch) {
			ac.metrics.Unknown()
			return nil, false, nil
		}
		for i, item := range batch {
			if c := ns[1+3*i : 4+3*i]; c[0] != unknownItem {
				counts = append(counts, stock.Count{Item: item, Cap: c[0], Held: c[1], Used: c[2]})
			}
		}
	}
	return counts, true, nil
}

// Missing returns the scopes that Redis lacks. It reads no counters and runs no script, so it is cheap to repeat.
func (ac *Cache) Missing(ctx context.Context, scopes []stock.Scope) (missing []stock.Scope, err error) {
	replies, err := ac.db.DoMulti(ctx, seq.Map(scopes, func(s stock.Scope) redisdb.Cmd {
		return redisdb.Command("HEXISTS", counterKeys(s, 0)[0], "ep")
	})...)
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		n, err := r.Int()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			missing = append(missing, scopes[i])
		}
	}
	return missing, nil
}

// ReadScope returns every counter of a scope, all of one instant. ok is false for an unknown scope.
func (ac *Cache) ReadScope(ctx context.Context, s stock.Scope) (shown stock.CachedScope, ok bool, err error) {
	hashes, err := ac.db.Run(ctx, snapshotScript, counterKeys(s, 0), nil).List()
	if err != nil || len(hashes) != 3 {
		return shown, false, err
	}
	var fields [3]map[string]string
	for i, h := range hashes {
		if fields[i], err = h.Map(); err != nil {
			return shown, false, err
		}
	}
	until := time.UnixMilli(number(fields[0]["end"])).UTC()
	return stock.CachedScope{Epoch: fields[0]["ep"], ExpiresAt: until, Counts: countsOf(fields)}, true, nil
}

// countsOf joins the three hashes. Fields that are not items, such as ep, are not numeric and are skipped.
func countsOf(hashes [3]map[string]string) []stock.Count {
	var counts []stock.Count
	for field, text := range hashes[0] {
		item, err := strconv.ParseInt(field, 10, 64)
		held, hasHeld := hashes[1][field]
		used, hasUsed := hashes[2][field]
		if err != nil || !hasHeld || !hasUsed {
			continue
		}
		c := stock.Count{Item: item, Cap: stock.Unlimited, Held: number(held), Used: number(used)}
		if text != "*" {
			c.Cap = number(text)
		}
		counts = append(counts, c)
	}
	slices.SortFunc(counts, func(a, b stock.Count) int { return cmp.Compare(a.Item, b.Item) })
	return counts
}

// ExpiredProvisional returns timed-out provisional holds, oldest first. stock.Syncer decides each of them in SQL and
// applies the result. An entry whose scope has expired is removed here: no counter contains it. It changes no
// counter. Several processes may read the same holds, because the operations that follow are idempotent.
func (ac *Cache) ExpiredProvisional(ctx context.Context, s stock.Scope, now time.Time, limit int) ([]stock.Hold, error) {
	due := provisionalKey(s)
	ids, err := ac.db.Do(ctx, "ZRANGEBYSCORE", due, "-inf", millis(now), "LIMIT", "0", strconv.Itoa(limit)).Texts()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	cmds := seq.Map(ids, func(id string) redisdb.Cmd { return redisdb.Command("HGETALL", recordKey(s, id)) })
	records, err := ac.db.DoMulti(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	var holds []stock.Hold
	var gone []string
	for i, r := range records {
		fields, err := r.Map()
		if err != nil {
			return nil, err
		}
		if _, counted := fields["__bizDate"]; !counted {
			gone = append(gone, ids[i])
			continue
		}
		holds = append(holds, holdOf(ids[i], s.Branch, fields))
	}
	if len(gone) > 0 {
		err = ac.db.Do(ctx, "ZREM", due, gone...).Err()
	}
	return holds, err
}

func holdOf(id string, branch int64, fields map[string]string) stock.Hold {
	h := stock.Hold{ID: id, Scope: stock.Scope{Branch: branch, Date: fields["__bizDate"]}}
	for field, qty := range fields {
		if item, err := strconv.ParseInt(field, 10, 64); err == nil {
			h.Lines = append(h.Lines, stock.Line{Item: item, Qty: number(qty)})
		}
	}
	slices.SortFunc(h.Lines, func(a, b stock.Line) int { return cmp.Compare(a.Item, b.Item) })
	return h
}

// number parses a value that only Comanda's scripts write; any other text counts as 0.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

package keyaudit

import (
	"context"
	"slices"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// recheck checks suspects again after a pause and drops those that are correct or gone (Q2).
func (a *auditor) recheck(ctx context.Context, sum *tally) error {
	if len(sum.suspects) == 0 {
		return nil
	}
	if err := a.options.wait(ctx, recheckPause); err != nil {
		return err
	}
	for kind, some := range sum.suspects {
		var left []suspect
		for page := range slices.Chunk(some, pageSize) {
			keep, err := a.still(ctx, kind, page)
			if err != nil {
				return err
			}
			for i, s := range page {
				if keep[i] {
					left = append(left, s)
				}
			}
		}
		sum.suspects[kind] = left
	}
	return nil
}

// pageSize is how many suspects are read in one exchange, as many as keys in a page of SCAN.
const pageSize = 1000

// still reports for each suspect of a kind whether it is still wrong. A key that is gone is correct by now.
func (a *auditor) still(ctx context.Context, kind Kind, some []suspect) ([]bool, error) {
	switch kind {
	case LostIndex, LostEntry, NotListed:
		return a.stillRelated(ctx, kind, some)
	}
	states, err := a.inspector.States(ctx, keysOf(some))
	if err != nil {
		return nil, err
	}
	wrong := make([]bool, len(some))
	for i, s := range some {
		if states[i].Gone() {
			continue
		}
		family, known := keyspace.Find(s.key)
		if !known {
			wrong[i] = true
			continue
		}
		now, _ := judge(&a.decls[family], states[i])
		wrong[i] = now == kind
	}
	return wrong, nil
}

// stillRelated checks the document and the index entry: still wrong if one exists without the other.
func (a *auditor) stillRelated(ctx context.Context, kind Kind, some []suspect) ([]bool, error) {
	documents, entries := make([]string, len(some)), make([]redisdb.Entry, len(some))
	for i, s := range some {
		family, _ := keyspace.Find(s.key)
		h := a.holdings[family]
		documents[i] = h.DocumentOf(s.id)
		entries[i] = redisdb.Entry{Key: s.key, ID: s.id, Set: s.set}
		if kind == NotListed {
			entries[i] = redisdb.Entry{Key: h.DocumentOf("list"), ID: s.id, Set: true}
		}
	}
	states, err := a.inspector.States(ctx, documents)
	if err != nil {
		return nil, err
	}
	held, err := a.inspector.Hold(ctx, entries)
	if err != nil {
		return nil, err
	}
	wrong := make([]bool, len(some))
	for i := range some {
		wrong[i] = held[i] && states[i].Gone()
		if kind == NotListed {
			wrong[i] = !held[i] && !states[i].Gone()
		}
	}
	return wrong, nil
}

func keysOf(some []suspect) []string {
	keys := make([]string, len(some))
	for i, s := range some {
		keys[i] = s.key
	}
	return keys
}

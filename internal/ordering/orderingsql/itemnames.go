package orderingsql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"

	"comanda/internal/ordering"
	"comanda/internal/sqldb"
)

// itemNames stores the names of ordered dishes, each text once. Lines refer to them by id, because all orders of a dish
// have the same names until its menu changes. It caches the ids, so that only the first order of a text costs a
// statement, and is safe for concurrent use. Rows of item_name never change and are never deleted, so the cache is never
// wrong.
//
// Like counters, names are inserted outside of the ordering transaction: two processes that each had inserted a row and
// waited for the other's row would deadlock.
type itemNames struct {
	db    *sqldb.DB
	mu    sync.RWMutex
	known map[itemName]int64
}

// itemName is the content of a row: the name for the kitchen, and the names in all locales as in ordering.Item.
type itemName struct{ name, names string }

// maxKnownNames bounds the cache to the dishes of some hundred branches, about 2 MB. A full cache is emptied.
const maxKnownNames = 10_000

func newItemNames(db *sqldb.DB) *itemNames {
	return &itemNames{db: db, known: map[itemName]int64{}}
}

// Set sets Item.NameID of all lines, and stores names that have no row yet.
func (n *itemNames) Set(ctx context.Context, items []ordering.Item) error {
	var missing []itemName
	n.mu.RLock()
	for i := range items {
		it := &items[i]
		name := itemName{it.Name, it.Names}
		if it.NameID = n.known[name]; it.NameID == 0 && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	n.mu.RUnlock()
	if missing == nil {
		return nil
	}
	ids, err := n.ensure(ctx, missing)
	if err != nil {
		return err
	}
	for i := range items {
		if it := &items[i]; it.NameID == 0 {
			it.NameID = ids[itemName{it.Name, it.Names}]
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) > maxKnownNames {
		clear(n.known)
	}
	maps.Copy(n.known, ids)
	return nil
}

// ensure returns the ids of names and inserts those that have no row. If two processes insert the same name, the second
// one changes nothing.
func (n *itemNames) ensure(ctx context.Context, names []itemName) (map[itemName]int64, error) {
	digests := make([]string, len(names))
	for i, name := range names {
		digests[i] = name.digest()
	}
	rows := func() *sqldb.RowSet {
		return sqldb.NewRowSet(len(names)).Text("digest", func(i int) string { return digests[i] })
	}
	byDigest, err := sqldb.Map[string, int64](ctx, n.db, stmt("item_name_ids"), rows())
	if err != nil {
		return nil, err
	}
	// After a restart all rows exist, so this is rare.
	if len(byDigest) < len(names) {
		_, err := n.db.Exec(ctx, stmt("item_name_insert"), rows().
			Text("name", func(i int) string { return names[i].name }).
			Text("names", func(i int) string { return names[i].names }))
		if err != nil {
			return nil, err
		}
		if byDigest, err = sqldb.Map[string, int64](ctx, n.db, stmt("item_name_ids"), rows()); err != nil {
			return nil, err
		}
	}
	ids := make(map[itemName]int64, len(names))
	for i, name := range names {
		ids[name] = byDigest[digests[i]]
	}
	return ids, nil
}

// digest returns the key of the row. The index of PostgreSQL would refuse long texts.
func (n itemName) digest() string {
	// A name has no control characters, so the separator is unambiguous.
	sum := sha256.Sum256([]byte(n.name + "\x00" + n.names))
	return hex.EncodeToString(sum[:16])
}

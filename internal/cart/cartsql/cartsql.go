// Package cartsql stores the carts of members, and those that the guests of a table share, in SQL. Concurrent changes
// share a transaction.
//
// Lock order: members' carts by id, then shared carts by visit. Transactions of changes and of orders both use it, so
// they cannot deadlock. Orders lock carts after counters and numbers.
package cartsql

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"comanda/internal/cart"
	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

// Statements are all statements of this package.
var Statements = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = Statements.Must

// The limits of a batch: changes per transaction or reads per statement, and waiting calls.
const (
	// maxBatch bounds the locks of a transaction. The length of the queue bounds the memory and the wait under
	// overload.
	maxBatch = 256
	maxQueue = 4096
)

// Store implements cart.Store and cart.SharedStore.
type Store struct {
	db          *sqldb.DB
	now         func() time.Time
	changes     *sqldb.Group[cart.Change, changeResult]
	reads       sqldb.ReadGroup[int64, cart.Cart]
	shared      *sqldb.Group[cart.SharedChange, sharedResult]
	versions    sqldb.ReadGroup[string, int64]
	firstBranch atomic.Pointer[cachedBranch]
}

type changeResult struct {
	cart cart.Cart
	of   cart.LineKey
	err  error
}

// New starts the goroutines that batch changes and reads; Stop ends them. now is the database's clock.
func New(db *sqldb.DB, now func() time.Time) *Store {
	s := &Store{db: db, now: now}
	s.changes = sqldb.NewGroup(db, sqldb.GroupConfig[cart.Change, changeResult]{Run: s.run, Max: maxBatch, Queue: maxQueue})
	s.reads = sqldb.NewReadGroup(db, maxBatch, maxQueue, func(ctx context.Context, users []int64) ([]cart.Cart, error) {
		return readByUsers(ctx, db, users)
	})
	s.shared = sqldb.NewGroup(db, sqldb.GroupConfig[cart.SharedChange, sharedResult]{
		Run: s.runShared, Max: maxBatch, Queue: maxQueue,
	})
	s.versions = sqldb.NewReadGroup(db, maxBatch, maxQueue, func(ctx context.Context, visits []string) ([]int64, error) {
		return readVersions(ctx, db, visits)
	})
	return s
}

// Stop completes the queued calls and refuses new ones.
func (s *Store) Stop() {
	s.changes.Stop()
	s.reads.Stop()
	s.shared.Stop()
	s.versions.Stop()
}

// Cart implements cart.Store. Concurrent reads share a statement.
func (s *Store) Cart(ctx context.Context, user int64) (cart.Cart, error) {
	return s.reads.Do(ctx, user)
}

// Change implements cart.Store.
func (s *Store) Change(ctx context.Context, c cart.Change) (cart.Cart, cart.LineKey, error) {
	r, err := s.changes.Do(ctx, c)
	return r.cart, r.of, outcome(err, r.err)
}

// outcome returns the error of a batch, else the error of one change in it.
func outcome(batch, change error) error {
	if errors.Is(batch, sqldb.ErrRetry) {
		return cart.ErrRetry.Because(batch)
	}
	return cmp.Or(batch, change)
}

// DishNames implements cart.Store.
func (s *Store) DishNames(ctx context.Context, dishes []int64) (map[int64]catalog.Texts, error) {
	names := map[int64]catalog.Texts{}
	return names, sqldb.Each(ctx, s.db, func(rows sqldb.Rows) error {
		var id int64
		var t catalog.Texts
		err := rows.Scan(&id, sqldb.JSON(&t))
		names[id] = t
		return err
	}, stmt("dish_names"), sqldb.IDs(dishes))
}

// cachedBranch is a result of FirstBranch, which every read of a cart without a branch needs.
type cachedBranch struct {
	id int64
	at time.Time
}

// firstBranchTTL is the maximum age of a cachedBranch.
const firstBranchTTL = time.Second

// CountWithDish counts the carts that have a dish and are, or may be, priced by a branch's menu.
func (s *Store) CountWithDish(ctx context.Context, branch, dish int64) (int64, error) {
	return sqldb.Scalar[int64](ctx, s.db, stmt("cart_count_dish"), branch, dish)
}

// FirstBranch implements cart.Store. The result is at most firstBranchTTL old.
func (s *Store) FirstBranch(ctx context.Context) (int64, error) {
	now := s.now()
	if f := s.firstBranch.Load(); f != nil && now.Sub(f.at) < firstBranchTTL {
		return f.id, nil
	}
	id, found, err := sqldb.One(ctx, s.db, sqldb.Value[int64], stmt("branch_first"))
	// An empty result is not cached: the first branch must be visible as soon as it is created.
	if err == nil && found {
		s.firstBranch.Store(&cachedBranch{id, now})
	}
	return id, err
}

// readByUsers returns the carts of members in the order of users, with ID 0 for none. A member may be repeated.
func readByUsers(ctx context.Context, c sqldb.Conn, users []int64) ([]cart.Cart, error) {
	byUser, byID := map[int64]*cart.Cart{}, map[int64]*cart.Cart{}
	err := sqldb.Each(ctx, c, func(rows sqldb.Rows) error {
		var one cart.Cart
		var l cart.Line
		var updated int64
		err := rows.Scan(&one.UserID, &one.ID, &one.BranchID, &one.Version, &updated,
			&l.ID, &l.DishID, &l.Quantity, &l.Price, &l.Version, &l.Options)
		if err != nil {
			return err
		}
		if l.ID == 0 {
			one.UpdatedAt = time.UnixMilli(updated).UTC()
			byUser[one.UserID], byID[one.ID] = &one, &one
		} else if of := byID[one.ID]; of != nil {
			of.Lines = append(of.Lines, l)
		}
		return nil
	}, stmt("cart_select"), sqldb.IDs(slices.Compact(slices.Sorted(slices.Values(users)))))
	all := make([]cart.Cart, len(users))
	for i, u := range users {
		if all[i].UserID = u; byUser[u] != nil {
			all[i] = *byUser[u]
		}
	}
	return all, err
}

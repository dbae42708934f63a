// Package cartsql keeps the carts of members. Changes that come at the same time share a transaction.
//
// Carts are locked in the order of their ids, in the transactions of changes as in those of orders, which lock them after
// counters and numbers. Whoever waits, waits for somebody further on.
package cartsql

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
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

var (
	cartSelect  = Statements.Must("cart_select")
	cartLock    = Statements.Must("cart_lock")
	cartEnsure  = Statements.Must("cart_ensure")
	cartUpdate  = Statements.Must("cart_update")
	cartDelete  = Statements.Must("cart_delete")
	lineSelect  = Statements.Must("line_select")
	linePut     = Statements.Must("line_put")
	lineDelete  = Statements.Must("line_delete")
	dishNames   = Statements.Must("dish_names")
	branchFirst = Statements.Must("branch_first")
	countDish   = Statements.Must("cart_count_dish")
)

// Bounds of what shares a statement or a transaction.
const (
	maxBatch = 256
	maxQueue = 4096
)

// Store keeps carts. It implements cart.Store.
type Store struct {
	db      *sqldb.DB
	now     func() time.Time
	changes *sqldb.Group[cart.Change, changed]
	looks   sqldb.Questions[int64, cart.Cart]
	first   atomic.Pointer[firstBranch]
}

type changed struct {
	cart cart.Cart
	dish int64
	err  error
}

// New starts the goroutines that gather changes and questions; Stop ends them. now is the deciding clock.
func New(db *sqldb.DB, now func() time.Time) *Store {
	s := &Store{db: db, now: now}
	s.changes = sqldb.NewGroup(db, sqldb.GroupConfig[cart.Change, changed]{Run: s.run, Max: maxBatch, Queue: maxQueue})
	s.looks = sqldb.NewQuestions(maxBatch, maxQueue, func(ctx context.Context, users []int64) ([]cart.Cart, error) {
		return carts(ctx, db, users)
	})
	return s
}

// Stop finishes what waits and refuses what comes.
func (s *Store) Stop() {
	s.changes.Stop()
	s.looks.Stop()
}

// Cart implements cart.Store. Questions that come at once share a statement.
func (s *Store) Cart(ctx context.Context, user int64) (cart.Cart, error) {
	return s.looks.Do(ctx, user)
}

// Change implements cart.Store.
func (s *Store) Change(ctx context.Context, c cart.Change) (cart.Cart, int64, error) {
	r, err := s.changes.Do(ctx, c)
	switch {
	case err == nil:
		err = r.err
	case errors.Is(err, sqldb.ErrRetry):
		err = cart.ErrRetry.Because(err)
	}
	return r.cart, r.dish, err
}

// DishNames implements cart.Store.
func (s *Store) DishNames(ctx context.Context, dishes []int64) (map[int64]catalog.Texts, error) {
	rows, err := s.db.Query(ctx, dishNames, idRows(dishes))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := map[int64]catalog.Texts{}
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		var t catalog.Texts
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return nil, fmt.Errorf("cartsql: names of dish %d: %w", id, err)
		}
		names[id] = t
	}
	return names, rows.Err()
}

// firstBranch is an answer of FirstBranch. Every look at a cart that was begun without a branch wants one.
type firstBranch struct {
	id int64
	at time.Time
}

// firstFresh is how old it may be.
const firstFresh = time.Second

// With counts the carts that have a dish and are priced by a branch's menu, or may be.
func (s *Store) With(ctx context.Context, branch, dish int64) (int64, error) {
	rows, err := s.db.Query(ctx, countDish, branch, dish)
	n, _, err := sqldb.One(rows, err, sqldb.Value[int64])
	return n, err
}

// FirstBranch implements cart.Store. The answer is at most a second old.
func (s *Store) FirstBranch(ctx context.Context) (int64, error) {
	now := s.now()
	if f := s.first.Load(); f != nil && now.Sub(f.at) < firstFresh {
		return f.id, nil
	}
	rows, err := s.db.Query(ctx, branchFirst)
	id, found, err := sqldb.One(rows, err, sqldb.Value[int64])
	if err == nil && found {
		s.first.Store(&firstBranch{id, now})
	}
	return id, err
}

func idRows(ids []int64) *sqldb.RowSet {
	return sqldb.NewRowSet(len(ids)).Int("id", func(i int) int64 { return ids[i] })
}

// carts reads the carts of members, in the order of the question; those that are not there are zero. A member may have
// asked more than once.
func carts(ctx context.Context, c sqldb.Conn, users []int64) ([]cart.Cart, error) {
	rows, err := c.Query(ctx, cartSelect, idRows(slices.Compact(slices.Sorted(slices.Values(users)))))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	byUser, byID := map[int64]*cart.Cart{}, map[int64]*cart.Cart{}
	for rows.Next() {
		var one cart.Cart
		var l cart.Line
		var updated int64
		err := rows.Scan(&one.UserID, &one.ID, &one.BranchID, &one.Version, &updated,
			&l.ID, &l.DishID, &l.Quantity, &l.Price, &l.Version)
		if err != nil {
			return nil, err
		}
		if l.ID == 0 {
			one.UpdatedAt = time.UnixMilli(updated).UTC()
			byUser[one.UserID], byID[one.ID] = &one, &one
		} else if of := byID[one.ID]; of != nil {
			of.Lines = append(of.Lines, l)
		}
	}
	all := make([]cart.Cart, len(users))
	for i, u := range users {
		if all[i].UserID = u; byUser[u] != nil {
			all[i] = *byUser[u]
		}
	}
	return all, rows.Err()
}

package stock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Desk is the ledger of the stock, normally stocksql.Reservations.
type Desk interface {
	// Do runs one demand; it is durable when Do returns without an error of kind Unavailable.
	Do(ctx context.Context, d Demand) (Result, error)
	DoAll(ctx context.Context, ds []Demand) ([]Result, []error)
	// Find gives a reservation; one without an id is not there.
	Find(ctx context.Context, id string) (Reservation, error)
	// Overdue gives reservations whose deadline has come.
	Overdue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// Things finds stock items by what their owner calls them.
	Things(ctx context.Context, branch int64, skus []string) ([]Thing, error)
}

// Door is the gate in front of the ledger, normally the Gatekeeper.
type Door interface {
	Try(ctx context.Context, h Hold) Verdict
	Abandon(h Hold)
}

// Request is what another system wants to reserve.
type Request struct {
	ID     string
	Branch int64
	Items  []Taken
	TTL    time.Duration // 0 means DefaultTTL
}

// Inventory is the use cases of other systems: Try, Confirm, Cancel, Return.
type Inventory struct {
	Desk Desk
	Door Door
	Now  func() time.Time

	known things
}

// Reserve holds everything that is asked for, or nothing. The same id with the same items gives the same reservation:
// created tells whether this request has made it.
func (s *Inventory) Reserve(ctx context.Context, who identity.Actor, r Request) (_ Reservation, created bool, err error) {
	if !who.Sees(r.Branch) {
		r.Branch = 0 // where there is no item
	}
	d, err := s.Demand(ctx, r)
	if err != nil {
		return Reservation{}, false, err
	}
	verdict := s.Door.Try(ctx, d.Hold)
	if verdict.Answer == Refused {
		d.Short = s.known.named(verdict.Short, r)
	}
	res, err := s.Desk.Do(ctx, d)
	if err == nil {
		err = res.Err
	}
	if verdict.Answer == Admitted && res.Reservation.Status != Reserved && fault.KindOf(err) != fault.Unavailable &&
		ctx.Err() == nil {
		s.Door.Abandon(d.Hold) // an unknown end is the reaper's
	}
	return res.Reservation, res.Changed, err
}

// Demand checks a request and finds what it asks for.
func (s *Inventory) Demand(ctx context.Context, r Request) (Demand, error) {
	d := Demand{Act: Try, ID: r.ID}
	if err := r.check(); err != nil {
		return d, err
	}
	ids, err := s.known.find(ctx, s.Desk, r)
	if err != nil {
		return d, err
	}
	d.Hold, err = r.Hold(ids, s.Now())
	return d, err
}

// check looks at the request alone.
func (r Request) check() error {
	if err := CheckName("orderId", r.ID); err != nil {
		return err
	}
	if r.TTL != 0 && (r.TTL < MinTTL || r.TTL > MaxTTL) {
		return fault.New(fault.Invalid, "invalid", "ttlSeconds is 1 to 86400.").With("field", "ttlSeconds")
	}
	if len(r.Items) == 0 || len(r.Items) > MaxLines {
		return ErrLines
	}
	for _, it := range r.Items {
		if err := CheckName("itemId", it.SKU); err != nil {
			return err
		}
		if it.Qty < 1 || it.Qty > MaxQty {
			return fault.Newf(fault.Invalid, "invalid", "A quantity is 1 to %d.", MaxQty).With("field", "quantity")
		}
	}
	return nil
}

// Hold is what the request takes, where ids are the numbers of its items by their names.
func (r Request) Hold(ids map[string]int64, now time.Time) (Hold, error) {
	lines := make([]Line, len(r.Items))
	for i, it := range r.Items {
		id, ok := ids[it.SKU]
		if !ok {
			return Hold{}, ErrItem.With("itemId", it.SKU)
		}
		lines[i] = Line{id, it.Qty}
	}
	ttl := r.TTL
	if ttl == 0 {
		ttl = DefaultTTL
	}
	merged, err := MergeLines(lines)
	return Hold{ID: HoldOf(r.ID), Scope: StockOf(r.Branch), Lines: merged, Until: now.Add(ttl)}, err
}

// Confirm sells what a reservation holds.
func (s *Inventory) Confirm(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Demand{Act: Confirm, ID: id})
}

// Cancel gives back what a reservation holds. Before its Try it has that refused.
func (s *Inventory) Cancel(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Demand{Act: Cancel, ID: id})
}

// Return puts what a reservation has sold back.
func (s *Inventory) Return(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	return s.settle(ctx, who, Demand{Act: Return, ID: id})
}

func (s *Inventory) settle(ctx context.Context, who identity.Actor, d Demand) (Reservation, error) {
	if err := CheckName("orderId", d.ID); err != nil {
		return Reservation{}, err
	}
	d.Sees = who.Sees
	r, err := s.Desk.Do(ctx, d)
	if err == nil {
		err = r.Err
	}
	return r.Reservation, err
}

// Find gives a reservation. One that was cancelled before it came is of no branch, and is shown to who sees all.
func (s *Inventory) Find(ctx context.Context, who identity.Actor, id string) (Reservation, error) {
	if err := CheckName("orderId", id); err != nil {
		return Reservation{}, err
	}
	r, err := s.Desk.Find(ctx, id)
	if err == nil && (r.ID == "" || !who.Sees(r.Branch)) {
		err = ErrNone
	}
	return r, err
}

// expireBatch bounds the reservations that one round ends.
const expireBatch = 500

// ExpireOverdue releases reservations whose deadline has come.
func (s *Inventory) ExpireOverdue(ctx context.Context) error {
	for {
		ids, err := s.Desk.Overdue(ctx, s.Now(), expireBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		demands := make([]Demand, len(ids))
		for i, id := range ids {
			demands[i] = Demand{Act: Expire, ID: id}
		}
		_, failures := s.Desk.DoAll(ctx, demands)
		if err := errors.Join(failures...); err != nil || len(ids) < expireBatch {
			return err
		}
	}
}

// things remembers the numbers of stock items, which never change. An item that is not found is asked for again.
type things struct {
	mu sync.RWMutex
	of map[thingKey]int64
}

type thingKey struct {
	branch int64
	sku    string
}

// maxThings bounds the memory; beyond it everything is forgotten and learnt anew.
const maxThings = 200_000

func (t *things) find(ctx context.Context, from Desk, r Request) (map[string]int64, error) {
	ids := make(map[string]int64, len(r.Items))
	var missing []string
	t.mu.RLock()
	for _, it := range r.Items {
		if id, ok := t.of[thingKey{r.Branch, it.SKU}]; ok {
			ids[it.SKU] = id
		} else {
			missing = append(missing, it.SKU)
		}
	}
	t.mu.RUnlock()
	if missing == nil {
		return ids, nil
	}
	found, err := from.Things(ctx, r.Branch, missing)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || len(t.of) > maxThings {
		t.of = map[thingKey]int64{}
	}
	for _, f := range found {
		ids[f.SKU] = f.ID
		t.of[thingKey{f.Branch, f.SKU}] = f.ID
	}
	return ids, nil
}

// named calls what the gate has refused of a request as its owner does.
func (t *things) named(short []Shortage, r Request) []ShortLine {
	t.mu.RLock()
	defer t.mu.RUnlock()
	lines := make([]ShortLine, 0, len(short))
	for _, s := range short {
		i := slices.IndexFunc(r.Items, func(it Taken) bool { return t.of[thingKey{r.Branch, it.SKU}] == s.Item })
		if i >= 0 {
			lines = append(lines, ShortLine{r.Items[i].SKU, s.Requested, s.Available})
		}
	}
	return lines
}
